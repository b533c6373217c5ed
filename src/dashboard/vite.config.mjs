// Bundles each page of the dashboard into one HTML file without external references. The file contains the script, the
// style sheet, and a Content-Security-Policy that allows only these two by their hashes, and no network.
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

/** Page → id of the element with its data. The program of a page is `PAGE.tsx`. */
const ELEMENTS = { dashboard: 'longpole-trace', diff: 'longpole-diff' };
/** Page to build. Each page has its own build, so that pages share no chunks. */
const name = process.env.LONGPOLE_PAGE ?? 'dashboard';
const root = fileURLToPath(new URL('.', import.meta.url));

const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Returns the policy of a page from disk, which forbids connections. A server that sends the page allows its own address. */
function policy(script, style) {
  return [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "img-src 'none'",
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

/** An end tag or a comment start in the code would end the script element early. */
const asScript = (code) => code.trim().replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');

function oneFile() {
  return {
    name: 'longpole-one-file',
    enforce: 'post',
    transformIndexHtml: {
      order: 'pre',
      handler: (html) =>
        html.replace('@LONGPOLE_ELEMENT@', ELEMENTS[name]).replace('@LONGPOLE_ENTRY@', `./${name}.tsx`),
    },
    generateBundle(_options, bundle) {
      const files = Object.values(bundle);
      const only = (wanted, what) => {
        const found = files.filter(wanted);
        if (found.length !== 1) this.error(`Expected one ${what}, but the build made ${found.length}.`);
        return found[0];
      };
      const chunk = only((file) => file.type === 'chunk', 'script');
      const css = only((file) => file.fileName.endsWith('.css'), 'style sheet');
      const page = only((file) => file.fileName.endsWith('.html'), 'page');
      const script = asScript(chunk.code);
      const style = String(css.source).trim();
      const html = String(page.source)
        .replace(/\s*<script type="module"[^>]*><\/script>/, '')
        .replace(/\s*<link rel="stylesheet"[^>]*>/, '')
        .replace('@LONGPOLE_CSP@', policy(script, style))
        .replace('</head>', () => `  <style>${style}</style>\n  </head>`)
        .replace('</body>', () => `  <script type="module">${script}</script>\n  </body>`);
      if (/<(?:script|link|img)\b[^>]*\s(?:src|href)=/.test(html.replace(script, ''))) {
        this.error('The page still refers to an external file.');
      }
      this.emitFile({ type: 'asset', fileName: `${name}.html`, source: html });
      delete bundle[page.fileName];
      delete bundle[chunk.fileName];
      delete bundle[css.fileName];
    },
  };
}

export default defineConfig({
  root,
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [oneFile()],
  build: {
    outDir: fileURLToPath(new URL('../../dist/dashboard', import.meta.url)),
    emptyOutDir: false,
    copyPublicDir: false,
    cssCodeSplit: false,
    modulePreload: false,
    target: 'es2022',
    rolldownOptions: { input: fileURLToPath(new URL('page.html', import.meta.url)) },
  },
});
