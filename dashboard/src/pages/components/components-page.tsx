// Shows every component in every state, to check changes to design tokens by eye.
import { useState, type ReactNode } from "react";
import { Button } from "../../ui/button.tsx";
import { Choices } from "../../ui/choices.tsx";
import { LineChart } from "../../ui/line-chart.tsx";
import { Checkbox, Field, Select, TextArea } from "../../ui/field.tsx";
import { Badge, Card, Page } from "../../ui/page.tsx";
import { Progress } from "../../ui/progress.tsx";
import { Snippet } from "../../ui/snippet.tsx";
import { Empty, Failure, Skeleton } from "../../ui/states.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { Tiles } from "../../ui/tiles.tsx";
import {
  COLOURS,
  DAYS,
  EMPTY,
  FAILED,
  FIELDS,
  LOOKS,
  OPTIONS,
  PROGRESS,
  ROWS,
  SECRET,
  SIZES,
  SNIPPET,
  STATES,
  TILES,
  TITLES,
  TONES,
} from "./samples.ts";

export function ComponentsPage() {
  return (
    <main>
      <Page title={TITLES.page} about={TITLES.about}>
        <div className="flex flex-col gap-8">
          <Foundations />
          <Controls />
          <Shown />
          <Waiting />
        </div>
      </Page>
    </main>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h2 className="mb-3 font-semibold">{title}</h2>
      {children}
    </section>
  );
}

function Foundations() {
  return (
    <>
      <Part title={TITLES.colours}>
        <ul className="grid grid-cols-2 gap-3 sm:grid-cols-4 lg:grid-cols-6">
          {COLOURS.map((name) => (
            <li key={name} className="text-xs text-soft">
              <span className={`mb-1 block h-10 rounded-md border border-line ${name}`} />
              {name}
            </li>
          ))}
        </ul>
      </Part>
      <Part title={TITLES.type}>
        {Object.entries(SIZES).map(([classes, text]) => (
          <p key={classes} className={classes}>
            {text}
          </p>
        ))}
      </Part>
    </>
  );
}

function Controls() {
  const [chosen, setChosen] = useState<"one" | "two" | "three">("one");
  return (
    <>
      <Part title={TITLES.buttons}>
        <div className="flex flex-col gap-3">
          {LOOKS.map((look) => (
            <div key={look} className="flex flex-wrap gap-3">
              <Button look={look}>{STATES.usual}</Button>
              <Button look={look} busy>
                {STATES.busy}
              </Button>
              <Button look={look} disabled>
                {STATES.disabled}
              </Button>
            </div>
          ))}
        </div>
      </Part>
      <Part title={TITLES.fields}>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label={FIELDS.label} help={FIELDS.help} placeholder={FIELDS.example} />
          <Field label={FIELDS.label} defaultValue={FIELDS.value} error={FIELDS.error} />
          <Field label={FIELDS.label} defaultValue={FIELDS.value} disabled />
          <Select label={FIELDS.option} options={OPTIONS} />
          <TextArea label={FIELDS.label} defaultValue={FIELDS.longer} />
          <TextArea label={FIELDS.label} defaultValue={FIELDS.code} isCode />
          <Checkbox label={FIELDS.check} help={FIELDS.help} defaultChecked />
          <Checkbox label={FIELDS.check} disabled />
        </div>
      </Part>
      <Part title={TITLES.choices}>
        <Choices look="tabs" label={TITLES.choices} options={OPTIONS} value={chosen} onChoose={setChosen} />
        <Choices label={TITLES.choices} options={OPTIONS} value={chosen} onChoose={setChosen} />
      </Part>
    </>
  );
}

const COLUMNS: Column<(typeof ROWS)[number]>[] = [
  { key: "name", head: FIELDS.label, cell: ({ name }) => <bdi>{name}</bdi> },
  { key: "email", head: FIELDS.value, cell: ({ email }) => email },
  { key: "count", head: TITLES.numbers, width: "w-28", align: "end", cell: ({ count }) => count },
];

function Shown() {
  return (
    <>
      <Part title={TITLES.badges}>
        <div className="flex flex-wrap gap-2">
          {TONES.map((tone) => (
            <Badge key={tone} tone={tone}>
              {tone}
            </Badge>
          ))}
        </div>
      </Part>
      <Part title={TITLES.numbers}>
        <div className="flex flex-col gap-5">
          <Tiles tiles={TILES} />
          <Card className="p-5">
            <LineChart
              label={TITLES.numbers}
              head={TITLES.numbers}
              points={DAYS.map(({ date }) => date)}
              series={[
                { label: TILES[0]?.label ?? "", tone: "accent", values: DAYS.map(({ sent }) => sent) },
                { label: TILES[1]?.label ?? "", tone: "good", values: DAYS.map(({ opened }) => opened) },
              ]}
            />
          </Card>
        </div>
      </Part>
      <Part title={TITLES.table}>
        <Card>
          <Table label={TITLES.table} columns={COLUMNS} rows={ROWS} rowKey={({ email }) => email} />
        </Card>
      </Part>
      <Part title={TITLES.code}>
        <Snippet code={SNIPPET} secret={SECRET} label={TITLES.code} />
      </Part>
    </>
  );
}

function Waiting() {
  return (
    <>
      <Part title={TITLES.states}>
        <div className="flex flex-col gap-5">
          <Card className="p-5">
            <Skeleton className="h-4 w-60" />
          </Card>
          <Card>
            <Empty title={EMPTY.title} action={<Button look="primary">{EMPTY.action}</Button>}>
              {EMPTY.text}
            </Empty>
          </Card>
          <Failure error={FAILED} onRetry={() => undefined} />
        </div>
      </Part>
      <Part title={TITLES.progress}>
        <Progress label={PROGRESS} share={0.42} />
      </Part>
    </>
  );
}
