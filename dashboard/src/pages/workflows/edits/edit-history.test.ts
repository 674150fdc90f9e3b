// Undoing and redoing edits against a model of the server, which gives every graph a new revision and knows its content.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isBlocked, NO_EDITS, returnOf, withEdit, withReturn, type EditHistory } from "./edit-history.ts";

const add = (name: string) => ({ kind: "add", name }) as const;

/** A graph with edits as its content. Each edit and each restored revision is a new revision. */
class Server {
  contents: string[][] = [[]];
  get revision() {
    return this.contents.length;
  }
  edit(name: string) {
    this.contents.push([...(this.contents.at(-1) ?? []), name]);
  }
  /** Rejects an outdated expectation, like the API. */
  restore({ revision, expectedRevision }: { revision: number; expectedRevision: number }) {
    if (expectedRevision !== this.revision) throw new Error("CHANGED_MEANWHILE");
    this.contents.push(this.contents[revision - 1] ?? []);
  }
}

function step(history: EditHistory, server: Server, direction: "undo" | "redo"): EditHistory {
  const back = returnOf(history, direction);
  if (back === null || isBlocked(history, server.revision)) return history;
  server.restore(back);
  return withReturn(history, direction, server.revision);
}

function edited(history: EditHistory, server: Server, name: string): EditHistory {
  const before = server.revision;
  server.edit(name);
  return withEdit(history, add(name), { before, after: server.revision });
}

test("any sequence of edits, undo and redo shows the states of an ordinary editor", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("edit", "undo", "redo")), (acts) => {
      const server = new Server();
      let history = NO_EDITS;
      let [states, at] = [[[]] as string[][], 0];
      for (const [number, act] of acts.entries()) {
        if (act === "edit") {
          history = edited(history, server, `${number}`);
          states = [...states.slice(0, at + 1), [...(states[at] ?? []), `${number}`]];
          at += 1;
        } else {
          history = step(history, server, act === "undo" ? "undo" : "redo");
          at = act === "undo" ? Math.max(0, at - 1) : Math.min(states.length - 1, at + 1);
        }
        expect(server.contents.at(-1)).toEqual(states[at]);
      }
    }),
  );
});

test("blocks undo after someone else's edit, and afterwards undoes only later edits", () => {
  const server = new Server();
  let history = edited(NO_EDITS, server, "mine");
  server.edit("theirs");
  expect(isBlocked(history, server.revision)).toBe(true);
  history = edited(history, server, "mine too");
  history = step(history, server, "undo");
  expect(server.contents.at(-1)).toEqual(["mine", "theirs"]);
  expect(returnOf(history, "undo")).toBeNull();
});

test("forgets the edits if someone else edited the graph between the read and the edit", () => {
  const server = new Server();
  const history = edited(NO_EDITS, server, "mine");
  const before = server.revision;
  server.edit("theirs");
  server.edit("mine too");
  expect(withEdit(history, add("mine too"), { before, after: server.revision })).toEqual(NO_EDITS);
});

test("names the edit that each direction takes back", () => {
  const server = new Server();
  let history = edited(edited(NO_EDITS, server, "one"), server, "two");
  history = step(history, server, "undo");
  expect(returnOf(history, "undo")?.edit.name).toBe("one");
  expect(returnOf(history, "redo")?.edit.name).toBe("two");
});
