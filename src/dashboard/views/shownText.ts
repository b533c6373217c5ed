// Makes every text on the pages safe to read, because keys, names, messages and code come from the trace. Control
// characters and direction overrides become visible signs, and long texts lose their middle. Components need no code
// for it. Values for programs (the address, `value` of a choice) stay unchanged.
import { type ComponentChildren, Fragment, options, type VNode } from 'preact';
import { LONGEST_NAME, shortened, visibleText } from '../../base/visibleText.js';

/** Attributes that users read. */
const READ = ['title', 'aria-label', 'placeholder'] as const;
/** Longest sentence, cell or attribute with several names, in characters. */
const LONGEST_SENTENCE = 2_000;
/** Longest log, stack or code, in characters. */
const LONGEST_LOG = 200_000;

/** Installs a hook of Preact, so that all elements made from now on show safe texts. */
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
  // An option without a value has its text as value.
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

/** Returns safe children, or the same array if they need no change. */
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
