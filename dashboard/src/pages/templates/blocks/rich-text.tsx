// Rich text of a block, edited in the email itself, with bold, italic, links and lists. Loaded on demand.
import type { RichText } from "@postloft/contract/design.ts";
import { EditorContent, useEditor, useEditorState, type Editor, type JSONContent } from "@tiptap/react";
import { StarterKit } from "@tiptap/starter-kit";
import {
  Bold,
  Italic,
  Link,
  List,
  ListOrdered,
  Strikethrough,
  Underline,
  type LucideIcon,
} from "lucide-react";
import { useContext, useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { INPUT_CLASS } from "../../../ui/field.tsx";
import { VariableMenu } from "../../mail-editor/mail-text.tsx";
import type { OfferedVariable } from "../../mail-editor/write-variable.ts";
import { ToolsContext } from "../canvas/canvas-context.ts";
import { TOOL_CLASS } from "../canvas/tool-class.ts";

interface RichTextProps {
  value: RichText;
  onChange: (value: RichText) => void;
  variables: readonly OfferedVariable[];
}

/** Addresses that run scripts. Browsers ignore control characters and spaces in them. */
const RUNS_SCRIPTS = /^(?:javascript|vbscript|data):/i;
const IGNORED = /[^!-\uffff]/g;

const EXTENSIONS = [
  // Allow only the marks of contract/src/design.ts, and do not add a trailing paragraph. The editor of the whole email has its own undo.
  StarterKit.configure({
    heading: false,
    blockquote: false,
    codeBlock: false,
    horizontalRule: false,
    trailingNode: false,
    undoRedo: false,
    link: {
      openOnClick: false,
      autolink: false,
      protocols: ["mailto", "tel"],
      // Variables are addresses, too.
      isAllowedUri: (url) => !RUNS_SCRIPTS.test(url.replaceAll(IGNORED, "")),
    },
  }),
];

/** Removes empty texts, which the API accepts. The editor would show a document with one as empty, and then store that. */
function editable({ content, ...node }: JSONContent): JSONContent {
  if (content === undefined) return node;
  return { ...node, content: content.filter(({ text }) => text !== "").map(editable) };
}

export function RichTextEditor({ value, onChange, variables }: RichTextProps) {
  const given = JSON.stringify(value);
  const reported = useRef(given);
  const latest = useRef(onChange);
  latest.current = onChange;
  const editor = useEditor({
    extensions: EXTENSIONS,
    content: editable(value as JSONContent),
    editorProps: {
      // Tab moves through the email. In a list it would change the list instead.
      handleDOMEvents: { keydown: (_view, { key }) => key === "Tab" },
      attributes: {
        "aria-label": t("Text"),
        "aria-multiline": "true",
        role: "textbox",
        class: "outline-none",
      },
    },
    onUpdate: (update) => {
      const written = update.editor.getJSON() as RichText;
      reported.current = JSON.stringify(written);
      latest.current(written);
    },
  });
  // Changes from outside, such as undo, replace the editor's content.
  useEffect(() => {
    if (given === reported.current) return;
    reported.current = given;
    editor.commands.setContent(editable(JSON.parse(given) as JSONContent), { emitUpdate: false });
  }, [given, editor]);
  const tools = useContext(ToolsContext);
  return (
    <>
      {tools !== null && createPortal(<Tools editor={editor} variables={variables} />, tools)}
      <EditorContent editor={editor} />
    </>
  );
}

interface Tool {
  name: string;
  label: string;
  icon: LucideIcon;
  use: (editor: Editor) => unknown;
}

const TOOLS: readonly Tool[] = [
  { name: "bold", label: t("Bold"), icon: Bold, use: (editor) => editor.chain().focus().toggleBold().run() },
  {
    name: "italic",
    label: t("Italic"),
    icon: Italic,
    use: (editor) => editor.chain().focus().toggleItalic().run(),
  },
  {
    name: "underline",
    label: t("Underline"),
    icon: Underline,
    use: (editor) => editor.chain().focus().toggleUnderline().run(),
  },
  {
    name: "strike",
    label: t("Strikethrough"),
    icon: Strikethrough,
    use: (editor) => editor.chain().focus().toggleStrike().run(),
  },
  {
    name: "bulletList",
    label: t("Bulleted list"),
    icon: List,
    use: (editor) => editor.chain().focus().toggleBulletList().run(),
  },
  {
    name: "orderedList",
    label: t("Numbered list"),
    icon: ListOrdered,
    use: (editor) => editor.chain().focus().toggleOrderedList().run(),
  },
];

function Tools({ editor, variables }: { editor: Editor; variables: readonly OfferedVariable[] }) {
  const [isLinking, setLinking] = useState(false);
  const active = useEditorState({
    editor,
    selector: ({ editor: now }) => ({
      marks: [...TOOLS.map(({ name }) => name), "link"].filter((name) => now.isActive(name)),
      href: String(now.getAttributes("link")["href"] ?? ""),
    }),
  });
  return (
    <>
      <span role="group" aria-label={t("Text formatting")} className="contents">
        {TOOLS.map(({ name, label, icon: Icon, use }) => (
          <button
            key={name}
            type="button"
            title={label}
            aria-label={label}
            aria-pressed={active.marks.includes(name)}
            onClick={() => use(editor)}
            className={TOOL_CLASS}
          >
            <Icon size={15} aria-hidden />
          </button>
        ))}
        <button
          type="button"
          title={t("Link")}
          aria-label={t("Link")}
          aria-pressed={active.marks.includes("link")}
          aria-expanded={isLinking}
          onClick={() => setLinking(!isLinking)}
          className={TOOL_CLASS}
        >
          <Link size={15} aria-hidden />
        </button>
        <VariableMenu
          isCompact
          variables={variables}
          onChoose={(text) => editor.chain().focus().insertContent({ type: "text", text }).run()}
        />
      </span>
      <span aria-hidden className="mx-0.5 h-5 border-l border-line" />
      {isLinking && <LinkForm editor={editor} href={active.href} onDone={() => setLinking(false)} />}
    </>
  );
}

function LinkForm({ editor, href, onDone }: { editor: Editor; href: string; onDone: () => void }) {
  const [address, setAddress] = useState(href === "" ? "https://" : href);
  const chain = () => editor.chain().focus().extendMarkRange("link");
  return (
    <form
      className="order-last flex w-full items-center gap-1"
      onSubmit={(event) => {
        event.preventDefault();
        // The email may be edited in a dialog of another form.
        event.stopPropagation();
        chain().setLink({ href: address.trim() }).run();
        onDone();
      }}
    >
      <input
        autoFocus
        aria-label={t("Link URL")}
        value={address}
        onChange={({ target }) => setAddress(target.value)}
        className={INPUT_CLASS}
      />
      <Button type="submit">{t("Apply")}</Button>
      <Button
        look="quiet"
        onClick={() => {
          chain().unsetLink().run();
          onDone();
        }}
      >
        {t("Remove link")}
      </Button>
    </form>
  );
}
