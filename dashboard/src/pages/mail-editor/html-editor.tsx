// Code editor for an email's HTML with highlighting, inline errors and completion of variables. Loaded on demand.
import {
  autocompletion,
  completionKeymap,
  type Completion,
  type CompletionContext,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { html, htmlLanguage } from "@codemirror/lang-html";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import {
  Decoration,
  drawSelection,
  EditorView,
  keymap,
  lineNumbers,
  MatchDecorator,
  ViewPlugin,
  type DecorationSet,
  type ViewUpdate,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useImperativeHandle, useRef, type Ref } from "react";
import { t } from "../../text/t.ts";
import { formatShare } from "../../ui/format.ts";
import { withFallback, type OfferedVariable } from "./write-variable.ts";

/** An error or a suggestion for a line of the HTML. */
export interface LineProblem {
  line: number;
  message: string;
  isWarning: boolean;
}

export interface HtmlEditorHandle {
  /** Inserts text at the cursor. */
  insert: (text: string) => void;
}

interface HtmlEditorProps {
  value: string;
  onChange: (value: string) => void;
  variables: readonly OfferedVariable[];
  problems: readonly LineProblem[];
  isInvalid: boolean;
  describedBy: string | undefined;
  /** The line at which to start. */
  line: number | undefined;
  ref?: Ref<HtmlEditorHandle>;
}

const HELPERS = ["#if", "#unless", "#each", "#with", "else", "/if", "/unless", "/each", "/with"];

export function HtmlEditor(props: HtmlEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  const latest = useRef(props);
  latest.current = props;
  /** The last value the editor emitted. If the prop equals it, the change did not come from outside. */
  const reported = useRef(props.value);
  useEffect(() => {
    if (place.current === null) return undefined;
    const view = openEditor(place.current, latest, reported);
    editor.current = view;
    return () => view.destroy();
  }, []);
  useEffect(() => {
    if (editor.current !== null && props.line !== undefined) showLine(editor.current, props.line);
  }, [props.line]);
  useEffect(() => {
    const view = editor.current;
    if (view === null || props.value === reported.current || view.state.sliceDoc() === props.value) return;
    reported.current = props.value;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: props.value } });
  }, [props.value]);
  const problems = JSON.stringify(props.problems);
  useEffect(() => {
    const view = editor.current;
    if (view !== null)
      view.dispatch(setDiagnostics(view.state, diagnosticsOf(view, latest.current.problems)));
  }, [problems]);
  const { isInvalid, describedBy } = props;
  useEffect(() => {
    editor.current?.dispatch({ effects: said.reconfigure(attributes(isInvalid, describedBy)) });
  }, [isInvalid, describedBy]);
  useImperativeHandle(props.ref, () => ({
    insert: (text) => {
      const view = editor.current;
      if (view === null) return;
      view.dispatch(view.state.replaceSelection(text));
      view.focus();
    },
  }));
  return <div ref={place} />;
}

const said = new Compartment();

function attributes(isInvalid: boolean, describedBy: string | undefined): Extension {
  return EditorView.contentAttributes.of({
    "aria-label": t("HTML"),
    spellcheck: "false",
    ...(isInvalid ? { "aria-invalid": "true" } : {}),
    ...(describedBy === undefined ? {} : { "aria-describedby": describedBy }),
  });
}

function openEditor(
  parent: HTMLElement,
  latest: { readonly current: HtmlEditorProps },
  reported: { current: string },
): EditorView {
  const { value, isInvalid, describedBy } = latest.current;
  return new EditorView({
    parent,
    state: EditorState.create({
      doc: value,
      extensions: [
        // Preserve the text's line endings.
        value.includes("\r\n") ? EditorState.lineSeparator.of("\r\n") : [],
        lineNumbers(),
        lintGutter(),
        history(),
        drawSelection(),
        EditorView.lineWrapping,
        highlightSelectionMatches(),
        html(),
        htmlLanguage.data.of({
          autocomplete: (context: CompletionContext) => offer(context, latest.current.variables),
        }),
        autocompletion({ icons: false }),
        syntaxHighlighting(HIGHLIGHT),
        MUSTACHES,
        LOOK,
        said.of(attributes(isInvalid, describedBy)),
        keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap, ...searchKeymap]),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          reported.current = update.state.sliceDoc();
          latest.current.onChange(reported.current);
        }),
      ],
    }),
  });
}

/** Moves the cursor to a line and scrolls it to the center. */
function showLine(view: EditorView, line: number): void {
  const { from, to } = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines));
  view.dispatch({
    selection: { anchor: from, head: to },
    effects: EditorView.scrollIntoView(from, { y: "center" }),
  });
  view.focus();
}

/** Completes `{{` with the contacts' variables and the helpers. Adds a fallback if some contacts have no value. */
function offer(context: CompletionContext, variables: readonly OfferedVariable[]) {
  const begun = context.matchBefore(/\{\{\{?[#/]?[\w.]*$/);
  if (begun === null) return null;
  const sign = /^\{\{\{?/.exec(begun.text)?.[0] ?? "{{";
  const end = sign === "{{{" ? "}}}" : "}}";
  const isClosed = context.state.sliceDoc(context.pos, context.pos + 2) === "}}";
  const close = isClosed ? "" : end;
  const options: Completion[] = [
    ...variables.map((variable) => ({
      label: variable.name,
      apply: withFallback(variable) + close,
      type: "variable",
      ...(typeof variable.coverage !== "number" ? {} : { detail: formatShare(variable.coverage) }),
    })),
    ...HELPERS.map((label) => ({
      label,
      apply: /^[/e]/.test(label) ? label + close : `${label} `,
      type: "keyword",
    })),
  ];
  return { from: begun.from + sign.length, options, validFor: /^[#/]?[\w.]*$/ };
}

function diagnosticsOf({ state }: EditorView, problems: readonly LineProblem[]): Diagnostic[] {
  return problems
    .filter(({ line }) => line >= 1 && line <= state.doc.lines)
    .map(({ line, message, isWarning }) => {
      const { from, to } = state.doc.line(line);
      return { from, to, message, severity: isWarning ? ("warning" as const) : ("error" as const) };
    })
    .toSorted((one, other) => one.from - other.from);
}

const VARIABLE = new MatchDecorator({
  regexp: /\{\{[^{}]{0,500}\}\}/g,
  decoration: Decoration.mark({ class: "cm-variable" }),
});
const MUSTACHES = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = VARIABLE.createDeco(view);
    }
    update(update: ViewUpdate) {
      this.decorations = VARIABLE.updateDeco(update, this.decorations);
    }
  },
  { decorations: ({ decorations }) => decorations },
);

const HIGHLIGHT = HighlightStyle.define([
  { tag: [tags.tagName, tags.angleBracket, tags.keyword], color: "var(--color-accent)" },
  { tag: [tags.attributeName, tags.propertyName], color: "var(--color-soft)" },
  { tag: [tags.attributeValue, tags.string, tags.number, tags.color], color: "var(--color-good)" },
  { tag: [tags.comment, tags.processingInstruction, tags.documentMeta], color: "var(--color-faint)" },
]);

const LOOK = EditorView.theme({
  "&": {
    height: "28rem",
    fontSize: "0.75rem",
    backgroundColor: "var(--color-surface)",
    border: "1px solid var(--color-line-strong)",
    borderRadius: "var(--radius-md)",
    overflow: "hidden",
  },
  "&.cm-focused": { outline: "none", borderColor: "var(--color-accent)" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "1.25rem" },
  ".cm-content": { caretColor: "var(--color-ink)", padding: "0.5rem 0" },
  ".cm-cursor": { borderLeftColor: "var(--color-ink)" },
  ".cm-gutters": { backgroundColor: "var(--color-side)", color: "var(--color-faint)", border: "none" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    backgroundColor: "var(--color-press)",
  },
  ".cm-variable": { backgroundColor: "var(--color-accent-wash)", borderRadius: "3px" },
  ".cm-tooltip": {
    backgroundColor: "var(--color-raised)",
    color: "var(--color-ink)",
    border: "1px solid var(--color-line)",
    borderRadius: "var(--radius-md)",
    overflow: "hidden",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    backgroundColor: "var(--color-accent-fill)",
    color: "var(--color-on-accent)",
  },
  ".cm-completionDetail": { color: "inherit", opacity: "0.8", fontStyle: "normal" },
  ".cm-panels": { backgroundColor: "var(--color-side)", color: "var(--color-ink)" },
  ".cm-panels .cm-textfield, .cm-panels .cm-button": {
    backgroundColor: "var(--color-surface)",
    backgroundImage: "none",
    color: "var(--color-ink)",
    border: "1px solid var(--color-line-strong)",
  },
});
