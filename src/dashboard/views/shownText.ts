// Every text that the pages show goes through here. Keys, names, messages and code come from the trace: control characters
// and overrides of direction become visible signs, and what is long loses its middle. Components need not think of it; what
// a program reads (the address, `value` of a choice) keeps the true text.
import { type ComponentChildren, Fragment, options, type VNode } from 'preact';
import { LONGEST_NAME, shortened, visibleText } from '../../base/visibleText.js';

/** Attributes that are read by people. */
const READ = ['title', 'aria-label', 'placeholder'] as const;
/** Characters of sentences, and of cells and attributes with several names. */
const LONGEST_SENTENCE = 2_000;
/** Characters of a log, a stack or code. */
const LONGEST_LOG = 200_000;

/** From now on, all elements that Preact makes show safe texts. */
export function showTextsSafely(): void {
  const before = options.vnode;
  options.vnode = (vnode) => {
    if (typeof vnode.type === 'string') guardElement(vnode, vnode.type);
    else if (vnode.type === Fragment) guardChildren(vnode, LONGEST_SENTENCE);
    before?.(vnode);
  };
}

function guardElement(vnode: VNode, type: string): void {
  for (const name of READ) {
    const text: unknown = Reflect.get(vnode.props, name);
    if (typeof text === 'string') Reflect.set(vnode.props, name, shownText(text, LONGEST_SENTENCE));
  }
  const { children } = vnode.props;
  // A choice without a value stands for its own text.
  if (type === 'option' && typeof children === 'string' && Reflect.get(vnode.props, 'value') === undefined)
    Reflect.set(vnode.props, 'value', children);
  guardChildren(vnode, longestIn(type, Reflect.get(vnode.props, 'class')));
}

function longestIn(type: string, kind: unknown): number {
  if (type === 'pre') return LONGEST_LOG;
  const isName = typeof kind === 'string' && /\b(code|name)\b/.test(kind);
  const isSentence = type === 'p' || type === 'li' || type === 'dd' || kind === 'text';
  return isSentence && !isName ? LONGEST_SENTENCE : LONGEST_NAME;
}

function guardChildren(vnode: VNode, longest: number): void {
  const { children } = vnode.props;
  const shown = shownChildren(children, longest);
  if (shown !== children) vnode.props.children = shown;
}

/** The same array where nothing changes. */
function shownChildren(children: ComponentChildren, longest: number): ComponentChildren {
  if (typeof children === 'string') return shownText(children, longest);
  if (!Array.isArray(children)) return children;
  const list: readonly ComponentChildren[] = children;
  const shown = list.map((child) => shownChildren(child, longest));
  return shown.some((child, i) => child !== list[i]) ? shown : children;
}

function shownText(text: string, longest: number): string {
  return visibleText(shortened(text, longest));
}
