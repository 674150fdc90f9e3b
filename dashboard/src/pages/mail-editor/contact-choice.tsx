// Chooses the contact used to preview an email, by address.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { Button, type Look } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { Failure } from "../../ui/states.tsx";

export interface ChosenContact {
  id: string;
  email: string;
}

interface ContactChoiceProps {
  projectId: string;
  /** Label of the button while no contact is selected. */
  prompt: string;
  chosen: ChosenContact | null;
  look?: Look;
  /** Without the option to choose no contact. */
  isRequired?: boolean;
  onChoose: (contact: ChosenContact | null) => void;
}

const SHOWN = "8";

/** Returns the query for the newest contacts whose address contains a text. */
export function contactsQuery(projectId: string, search: string) {
  return query(api.contacts.list, {
    projectId,
    query: { limit: SHOWN, ...(search === "" ? {} : { search }) },
  });
}

export function ContactChoice({
  projectId,
  prompt,
  chosen,
  look = "quiet",
  isRequired = false,
  onChoose,
}: ContactChoiceProps) {
  const [isOpen, setOpen] = useState(false);
  const choose = (contact: ChosenContact | null) => {
    onChoose(contact);
    setOpen(false);
  };
  return (
    <>
      <Button look={look} className="max-w-full" onClick={() => setOpen(true)}>
        <bdi>{chosen === null ? prompt : t("As {email}", { email: chosen.email })}</bdi>
      </Button>
      {isOpen && (
        <Dialog title={t("Choose a contact")} open onClose={() => setOpen(false)}>
          <Found projectId={projectId} onChoose={choose} />
          {!isRequired && (
            <div className="mt-4 flex justify-end">
              <Button look="quiet" onClick={() => choose(null)}>
                {t("No one specific")}
              </Button>
            </div>
          )}
        </Dialog>
      )}
    </>
  );
}

function Found({ projectId, onChoose }: Pick<ContactChoiceProps, "projectId" | "onChoose">) {
  const [search, setSearch] = useState("");
  const found = useQuery(contactsQuery(projectId, search));
  return (
    <>
      <SearchBox label={t("Search by email")} value={search} onSearch={setSearch} />
      {found.isError && <Failure error={found.error} />}
      <ul className="mt-2 flex min-h-40 flex-col">
        {found.data?.data.map(({ id, email }) => (
          <li key={id}>
            <button
              type="button"
              onClick={() => onChoose({ id, email })}
              className="w-full truncate rounded-sm px-2 py-1.5 text-left hover:bg-hover"
            >
              <bdi>{email}</bdi>
            </button>
          </li>
        ))}
        {found.data?.data.length === 0 && <li className="py-2 text-soft">{t("No matching contacts")}</li>}
      </ul>
    </>
  );
}
