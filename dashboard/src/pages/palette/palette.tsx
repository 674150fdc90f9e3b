// The command palette: pages, actions, projects and search results from the server.
import { Autocomplete } from "@base-ui/react/autocomplete";
import { Dialog } from "@base-ui/react/dialog";
import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { Search } from "lucide-react";
import { useState } from "react";
import type { Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Failure } from "../../ui/states.tsx";
import { useDebounced } from "../../ui/use-debounced.ts";
import { useCommands, type Command, type CommandGroup } from "./commands.ts";
import { findQuery } from "./find.ts";
import type { Opened } from "./shortcuts.ts";

const TYPING_PAUSE_MS = 150;

interface PaletteProps {
  project: Project;
  projects: readonly Project[];
  /** Opens another dialog above the page. */
  onOpen: (what: Opened) => void;
  onClose: () => void;
}

// A type alias because Base UI requires an index signature, which interfaces lack.
type Listed = { value: string; items: Command[] };

// oxlint-disable-next-line max-lines-per-function -- the handlers share its state
export function Palette({ project, projects, onOpen, onClose }: PaletteProps) {
  const [typed, setTyped] = useState("");
  const wanted = useDebounced(typed.trim(), TYPING_PAUSE_MS);
  const { groups, open } = useCommands({ project, projects, onOpen });
  const found = useQuery(findQuery(project.id, wanted));
  const things: CommandGroup[] = (found.data ?? []).map(({ label, things: all }) => ({
    label,
    commands: all.map(({ id, name, place }) => ({
      key: `${place} ${id}`,
      label: name,
      run: () => open(place, id),
    })),
  }));
  const listed: Listed[] = [...matching(groups, typed), ...(typed.trim() === "" ? [] : things)].map(
    ({ label, commands }) => ({ value: label, items: commands }),
  );
  const isSearching = typed.trim() !== "" && (found.isFetching || wanted !== typed.trim());
  const choose = ({ run }: Command) => {
    onClose();
    run();
  };
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 bg-veil" />
        <Dialog.Popup
          aria-label={t("Search and commands")}
          className="fixed top-[14vh] left-1/2 flex max-h-[70vh] w-[min(36rem,calc(100vw-2rem))] -translate-x-1/2 flex-col overflow-hidden rounded-lg bg-raised shadow-float"
        >
          <Autocomplete.Root<Listed>
            open
            inline
            mode="none"
            items={listed}
            filteredItems={listed}
            value={typed}
            onValueChange={setTyped}
            itemToStringValue={(item) => (item as unknown as Command).label}
            autoHighlight="always"
            keepHighlight
          >
            <div className="flex items-center gap-2.5 border-b border-line px-4">
              <Search size={15} className="shrink-0 text-faint" aria-hidden />
              <Autocomplete.Input
                // Focus immediately, not in the next frame as dialogs do, so that no typed letter is lost.
                autoFocus
                aria-label={t("Search and commands")}
                placeholder={t("Search or enter a command")}
                className="h-12 w-full bg-transparent text-base outline-none"
              />
            </div>
            <SearchState found={found} isSearching={isSearching} isEmpty={listed.length === 0} />
            <Autocomplete.List className="overflow-y-auto p-1.5 empty:hidden">
              {(group: Listed) => (
                <Autocomplete.Group key={group.value} items={group.items} className="pb-1">
                  <Autocomplete.GroupLabel className="px-2.5 pt-2 pb-1 text-xs font-medium text-faint">
                    {group.value}
                  </Autocomplete.GroupLabel>
                  <Autocomplete.Collection>
                    {(command: Command) => (
                      <Line key={command.key} command={command} onChoose={() => choose(command)} />
                    )}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface SearchStateProps {
  found: UseQueryResult;
  isSearching: boolean;
  /** Whether nothing is listed. */
  isEmpty: boolean;
}

/** Shows the state of the search below its results. */
function SearchState({ found, isSearching, isEmpty }: SearchStateProps) {
  return (
    <>
      <p role="status" className="px-4 py-3 text-sm text-soft empty:hidden">
        {isEmpty && !found.isError && (isSearching ? t("Searching…") : t("No results"))}
      </p>
      {found.isError && (
        <div className="p-3">
          <Failure error={found.error} onRetry={() => void found.refetch()} />
        </div>
      )}
    </>
  );
}

function Line({ command, onChoose }: { command: Command; onChoose: () => void }) {
  const { label, icon: Icon, refusal } = command;
  return (
    <Autocomplete.Item
      value={command}
      disabled={refusal !== undefined}
      onClick={onChoose}
      className="flex min-h-9 cursor-pointer items-center gap-2.5 rounded-md px-2.5 text-sm outline-none select-none data-disabled:opacity-50 data-highlighted:bg-hover"
    >
      {Icon !== undefined && <Icon size={15} strokeWidth={1.9} className="text-faint" aria-hidden />}
      <bdi className="min-w-0 flex-1 truncate">{label}</bdi>
      {refusal !== undefined && <span className="truncate text-xs text-faint">{refusal}</span>}
    </Autocomplete.Item>
  );
}

/** Returns the commands that contain all typed words in any order. Without input, returns the most used ones. */
function matching(groups: readonly CommandGroup[], typed: string): CommandGroup[] {
  const words = typed.toLowerCase().split(/\s+/);
  return groups
    .map(({ label, commands }) => ({
      label,
      commands: commands.filter((command) =>
        words.every((word) => `${label} ${command.label}`.toLowerCase().includes(word)),
      ),
    }))
    .filter(({ commands }) => commands.length > 0);
}
