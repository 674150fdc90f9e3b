// Rich text editor for a block, with bold, italic, links and lists. Loaded on demand.
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
import { useEffect, useRef, useState } from "react";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { INPUT_CLASS } from "../../../ui/field.tsx";
import { VariableMenu } from "../../mail-editor/mail-text.tsx";
import type { OfferedVariable } from "../../mail-editor/write-variable.ts";

interface RichTextProps {
  value: RichText;
  onChange: (value: RichText) => void;
  variables: readonly OfferedVariable[];
}

const EXTENSIONS = [
  // Allow only the marks of contract/src/design.ts, and do not add a trailing paragraph.
  StarterKit.configure({
    heading: false,
    blockquote: false,
    codeBlock: false,
    horizontalRule: false,
    trailingNode: false,
    link: { openOnClick: false, autolink: false, protocols: ["mailto", "tel"], isAllowedUri: () => true },
  }),
];

export function RichTextEditor({ value, onChange, variables }: RichTextProps) {
  const given = JSON.stringify(value);
  const reported = useRef(given);
  const latest = useRef(onChange);
  latest.current = onChange;
  const editor = useEditor({
    extensions: EXTENSIONS,
    content: value as JSONContent,
    editorProps: {
      attributes: {
        "aria-label": t("Text"),
        "aria-multiline": "true",
        role: "textbox",
        class:
          "rich-text min-h-24 rounded-b-md border border-line-strong bg-surface px-3 py-2 focus:border-accent focus:outline-none",
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
    editor.commands.setContent(JSON.parse(given) as JSONContent, { emitUpdate: false });
  }, [given, editor]);
  return (
    <div>
      <Toolbar editor={editor} variables={variables} />
      <EditorContent editor={editor} />
    </div>
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

const TOOL =
  "inline-flex size-7 items-center justify-center rounded-sm text-soft hover:bg-hover hover:text-ink aria-pressed:bg-press aria-pressed:text-ink";

function Toolbar({ editor, variables }: { editor: Editor; variables: readonly OfferedVariable[] }) {
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
      <div
        role="toolbar"
        aria-label={t("Text formatting")}
        className="flex flex-wrap items-center gap-0.5 rounded-t-md border border-b-0 border-line-strong bg-side px-1 py-0.5"
      >
        {TOOLS.map(({ name, label, icon: Icon, use }) => (
          <button
            key={name}
            type="button"
            title={label}
            aria-label={label}
            aria-pressed={active.marks.includes(name)}
            onClick={() => use(editor)}
            className={TOOL}
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
          className={TOOL}
        >
          <Link size={15} aria-hidden />
        </button>
        <span className="ml-auto">
          <VariableMenu
            variables={variables}
            onChoose={(text) => editor.chain().focus().insertContent({ type: "text", text }).run()}
          />
        </span>
      </div>
      {isLinking && <LinkForm editor={editor} href={active.href} onDone={() => setLinking(false)} />}
    </>
  );
}

function LinkForm({ editor, href, onDone }: { editor: Editor; href: string; onDone: () => void }) {
  const [address, setAddress] = useState(href === "" ? "https://" : href);
  const chain = () => editor.chain().focus().extendMarkRange("link");
  return (
    <form
      className="flex items-center gap-1 border-x border-line-strong bg-side p-1.5"
      onSubmit={(event) => {
        event.preventDefault();
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
