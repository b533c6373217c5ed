// The parts of pages: panels, rows with bars, choices, and messages of empty panels.
import type { Signal } from '@preact/signals';
import type { ButtonHTMLAttributes, ComponentChildren, RefObject } from 'preact';
import { useContext } from 'preact/hooks';
import { LongpoleError, messageOf } from '../../base/errors.js';
import { shortNames } from '../model/format.js';
import { IndividualContext } from './individual.js';

interface Children {
  readonly children: ComponentChildren;
}

/** A page of panels, which scrolls. */
export function Panels({ children, four = false }: Children & { readonly four?: boolean }) {
  if (useContext(IndividualContext)?.plots !== undefined) return null;
  return (
    <div class="scroll">
      <div class={four ? 'panels four' : 'panels'}>{children}</div>
    </div>
  );
}

interface PanelProps extends Children {
  readonly title: string;
  /** Text to the right of the title. */
  readonly note?: ComponentChildren;
  readonly wide?: boolean;
  /** Message that the panel shows instead of its contents. */
  readonly empty?: ComponentChildren;
}

export function Panel({ title, note, wide = false, empty = false, children }: PanelProps) {
  const individual = useContext(IndividualContext);
  if (individual?.panels?.includes(title) === false) return null;
  return (
    <section class={wide ? 'panel wide' : 'panel'} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {note === undefined ? null : (
          <span class="muted" title={typeof note === 'string' ? note : undefined}>
            {note}
          </span>
        )}
      </header>
      {empty === false ? children : <Empty>{empty}</Empty>}
    </section>
  );
}

export function Empty({ children }: Children) {
  return <p class="empty-note">{children}</p>;
}

/** A page without data. */
export function Nothing({ title, children }: Children & { readonly title: string }) {
  return (
    <section class="nothing">
      <h2>{title}</h2>
      <p>{children}</p>
    </section>
  );
}

interface ButtonProps extends ButtonHTMLAttributes {
  readonly text: ComponentChildren;
}

export function Button({ text, ...attributes }: ButtonProps) {
  return (
    <button type="button" {...attributes}>
      {text}
    </button>
  );
}

/** Returns a function that sets a signal. */
export function set<T>(signal: Signal<T>, value: T): () => void {
  return () => {
    signal.value = value;
  };
}

export interface BarPart {
  readonly name: string;
  readonly value: number;
  readonly color: string;
}

export interface BarRow {
  readonly name: string;
  readonly parts: readonly BarPart[];
  readonly label: string;
  /** Value of a full bar. Default: the largest sum of all rows. */
  readonly largest?: number;
  /** Value of a mark on the bar, e.g. a memory limit, in the unit of the parts. */
  readonly limit?: number | undefined;
  readonly onClick?: () => void;
}

interface BarsProps {
  readonly rows: readonly BarRow[];
  readonly largest?: number;
  /** Whether the names are those of workers, whose common parts are left out. */
  readonly areWorkers?: boolean;
  /** Message without rows. */
  readonly none?: string;
}

/** Rows with bars on a common scale, or each on its own scale. */
export function Bars({ rows, largest, areWorkers = false, none }: BarsProps) {
  if (rows.length === 0 && none !== undefined) return <Empty>{none}</Empty>;
  const most =
    largest ??
    rows.reduce(
      (top, { parts, limit }) =>
        Math.max(
          top,
          limit ?? 0,
          parts.reduce((sum, { value }) => sum + Math.max(0, value), 0),
        ),
      0,
    );
  const names = rows.map(({ name }) => name);
  const shown = areWorkers ? shortNames(names) : names;
  const width = (value: number, of = most) =>
    `${of > 0 ? Math.max(0, Math.min(100, (100 * value) / of)) : 0}%`;
  return (
    <ul class="bars">
      {rows.map(({ name, parts, label, largest: own, limit, onClick }, i) => (
        <li key={i}>
          {onClick === undefined ? (
            <span class="name" title={name}>
              {shown[i]}
            </span>
          ) : (
            <button type="button" class="name link" title={name} onClick={onClick}>
              {shown[i]}
            </button>
          )}
          <span
            class="track"
            role="img"
            aria-label={parts.map((part) => part.name).join(', ')}
            title={parts.map((part) => part.name).join(', ')}
          >
            {parts
              .filter(({ value }) => value > 0)
              .map((part) => (
                <i key={part.name} style={{ width: width(part.value, own), background: part.color }} />
              ))}
            {limit !== undefined && limit > 0 ? <b class="limit" style={{ left: width(limit) }} /> : null}
          </span>
          <span class="number">{label}</span>
        </li>
      ))}
    </ul>
  );
}

export function ColorKey({ parts }: { readonly parts: readonly Pick<BarPart, 'name' | 'color'>[] }) {
  return (
    <p class="key-list">
      {parts.map(({ name, color }) => (
        <span key={name}>
          <i class="swatch" style={{ background: color }} />
          {name}
        </span>
      ))}
    </p>
  );
}

interface SearchProps {
  readonly box: RefObject<HTMLInputElement | null>;
  /** What the box searches. */
  readonly searches: 'keys' | 'functions';
  readonly query: string;
  readonly onQuery: (query: string) => void;
  readonly onEnter?: (isBackwards: boolean) => void;
  /** The outcome, beside the box. */
  readonly children: ComponentChildren;
}

/** A search box. Escape clears it, and without a query it shows the key that leads to it. */
export function SearchField({ box, searches, query, onQuery, onEnter, children }: SearchProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: <search> is not known to all browsers that open the page
    <div class="search" role="search">
      <input
        ref={box}
        type="search"
        placeholder={`Search ${searches}`}
        aria-label={searches === 'keys' ? 'Search for tasks by key' : `Search for ${searches}`}
        autocomplete="off"
        spellcheck={false}
        value={query}
        onInput={(event) => onQuery(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onEnter?.(event.shiftKey);
          if (event.key !== 'Escape') return;
          onQuery('');
          event.currentTarget.blur();
        }}
      />
      {query === '' ? <kbd>/</kbd> : null}
      {children}
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  /** Name for screen readers. Default: the label. */
  readonly name?: string;
  readonly value: string;
  readonly options: Iterable<readonly [value: string, text: string]>;
  readonly onChoice: (value: string) => void;
}

/** A drop-down list. */
export function Choice({ label, name, value, options, onChoice }: ChoiceProps) {
  return (
    <label>
      {label}
      <select aria-label={name} value={value} onChange={(event) => onChoice(event.currentTarget.value)}>
        {Array.from(options, ([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Returns options whose values are their texts, after an option for all. */
export function withAll(all: string, names: Iterable<string>): [value: string, text: string][] {
  return [['', all], ...Array.from(names, (name): [string, string] => [name, name])];
}

export function Problem({ error }: { readonly error: unknown }) {
  const known = error instanceof LongpoleError;
  const message = messageOf(error);
  return (
    <main class="problem">
      <h1>This page cannot show its data</h1>
      <p>{known ? message : `The script of the page failed: ${message}`}</p>
      {known ? <p class="code">{error.code}</p> : null}
    </main>
  );
}
