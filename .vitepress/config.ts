// The documentation as a site: `npm run docs` writes it to dist-docs/. The pages are plain Markdown, as GitHub shows them.
// docs/README.md decides which pages the sidebar lists, in which order and under which headings.
import { readFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { type DefaultTheme, defineConfig } from 'vitepress';
import { anchorOf } from '../test/support/markdown.js';

const INDEX = 'docs/README.md';
/** Folders with Markdown files that are no documentation. */
const NO_PAGES = ['src/*/**', 'test/**', '.*/**', 'dist-*/**'];

/** Returns the path of a page in the site: the README of a folder is its index. */
const sitePath = (path: string): string => path.replace(/(^|\/)README\.md(?=$|#)/, '$1index.md');

/** Reads headings of level 2 and 3 and the lists of links below them. */
function sidebarOf(index: string): DefaultTheme.SidebarItem[] {
  const groups: DefaultTheme.SidebarItem[] = [];
  let siblings = groups;
  let links = groups;
  for (const line of readFileSync(index, 'utf8').split('\n')) {
    const [, marks, heading] = /^(##|###) (.+)$/.exec(line) ?? [];
    const [, text, target] = /^- \[(.+?)\]\(([^)#]+\.md)\)/.exec(line) ?? [];
    if (heading !== undefined) {
      links = [];
      if (marks === '##') siblings = groups;
      siblings.push({ text: heading, items: links });
      if (marks === '##') siblings = links;
    } else if (text !== undefined && target !== undefined) {
      const path = posix.join(dirname(index), target);
      const below = path.endsWith('/README.md') ? { items: sidebarOf(path), collapsed: true } : {};
      links.push({ text: text.replaceAll('`', ''), link: `/${sitePath(path)}`, ...below });
    }
  }
  return groups;
}

export default defineConfig({
  title: 'Longpole',
  description: 'Runs task graphs on every core and finds what a parallel computation is waiting for',
  // Relative addresses, so that the site works below every path.
  base: './',
  outDir: 'dist-docs',
  cacheDir: 'node_modules/.cache/vitepress',
  srcExclude: NO_PAGES,
  rewrites: sitePath,
  markdown: {
    anchor: { slugify: anchorOf },
    config(md) {
      md.core.ruler.push('links to a README', ({ tokens }) => {
        for (const link of tokens.flatMap(({ children }) => children ?? [])) {
          const target = link.type === 'link_open' ? link.attrGet('href') : null;
          if (target !== null && !/^\w+:/.test(target)) link.attrSet('href', sitePath(target));
        }
      });
    },
  },
  themeConfig: {
    nav: [
      { text: 'Get started', link: '/docs/get-started' },
      { text: 'All pages', link: '/docs/' },
    ],
    sidebar: sidebarOf(INDEX),
    outline: [2, 3],
    search: { provider: 'local' },
  },
});
