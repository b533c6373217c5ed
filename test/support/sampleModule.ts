// Makes a module of a code sample: imports the names that it takes from the page or from test/samples/, exports its own
// names for the samples behind it, and prints the values that the page shows in comments.
import { parse } from 'acorn';
import { transform } from 'esbuild';
import { analyze, type Definition } from 'eslint-scope';
import type { Program } from 'estree';

/** A module that a sample may import names from. */
export interface Names {
  /** Without extension, relative to the folder of the page. */
  readonly module: string;
  /** Names that the module declares, and names that it imports, with the import. */
  readonly names: ReadonlyMap<string, string | undefined>;
}

export interface SampleModule extends Names {
  /** For the compiler. Its lines have the numbers that they have in the sample. */
  readonly typescript: string;
  readonly javascript: string;
  /** Lines of output that comments behind statements show, in their order. */
  readonly shown: readonly string[];
  /** Lines of output that comments below statements show, in any order. */
  readonly shownBelow: readonly string[];
}

/** Matches the text of a comment that shows a value. */
const VALUE = /^(?:-?\d|['"{[]|(?:true|false|null|undefined|NaN|Infinity|https?:\/\/\S*|ERR_LONGPOLE_.*)$)/;
/** Globals that esbuild's helpers use where they exist. */
const NEWER_GLOBALS = new Set(['SuppressedError']);
/** Runs on every Node that Longpole supports. */
const TARGET = 'node20';

/**
 * @param sources where names that the sample does not define come from; later ones come first
 * @param later text of the later samples of the page; what they use of this sample is not disposed at its end
 * @throws Error for a name that has no source, and for a syntax error
 */
export async function sampleModule(
  text: string,
  module: string,
  loader: 'ts' | 'js',
  sources: readonly Names[],
  later: string,
): Promise<SampleModule> {
  // One list at the end exports every name.
  const source = text.replace(/^export (?=async |class |const |function |let )/gm, '       ');
  const scope = await scopeOf(source, loader);
  const imports = scope.free.map((name) => {
    const from = sources.findLast(({ names }) => names.has(name));
    // Importing a package again does not run the earlier sample in workers, too.
    if (from !== undefined) return from.names.get(name) ?? `import { ${name} } from './${from.module}.js';`;
    throw new Error(
      `It uses '${name}', which neither an earlier sample of the page nor test/samples defines`,
    );
  });
  const before = `${imports.join(' ')} `;
  const after = `\nexport { ${[...scope.own].flatMap(([name, from]) => (from === undefined ? [name] : [])).join(', ')} };\n`;
  const { printing, shown, shownBelow } = await printingValues(
    source.replace(/^(?:await )?using (\w+) =/gm, (declaration, name: string) =>
      new RegExp(`\\b${name}\\b`).test(later) ? `const ${name} =` : declaration,
    ),
  );
  return {
    module,
    names: scope.own,
    typescript: before + source + after,
    javascript: await javascriptOf(before + printing + after, loader),
    shown,
    shownBelow,
  };
}

/** Returns JavaScript without `using`, which only the newest Node has. */
export async function javascriptOf(text: string, loader: 'ts' | 'js'): Promise<string> {
  const tsconfigRaw = { compilerOptions: { verbatimModuleSyntax: true } };
  const result = await transform(text, {
    loader,
    format: 'esm',
    target: TARGET,
    charset: 'utf8',
    tsconfigRaw,
  });
  return result.code;
}

interface ModuleScope {
  /** Names that the module uses and does not define. */
  readonly free: readonly string[];
  readonly own: Names['names'];
}

async function scopeOf(text: string, loader: 'ts' | 'js'): Promise<ModuleScope> {
  const program: object = parse(await javascriptOf(text, loader), {
    ecmaVersion: 'latest',
    sourceType: 'module',
    ranges: true,
  });
  if (!isEstree(program)) throw new Error('acorn returned no program');
  const { globalScope, scopes } = analyze(program, { ecmaVersion: 2026, sourceType: 'module' });
  const free = new Set(globalScope?.through.map(({ identifier }) => identifier.name));
  const own = (scopes.find(({ type }) => type === 'module')?.variables ?? [])
    // The names of esbuild's helpers begin with `_`.
    .filter(({ name }) => !name.startsWith('_'))
    .map(({ name, defs: [definition] }) => [name, definition && importOf(definition)] as const);
  return {
    free: [...free].filter((name) => !(name in globalThis || NEWER_GLOBALS.has(name))),
    own: new Map(own),
  };
}

/** Returns the import that defines a name; undefined for a name that the module declares itself. */
function importOf({ node, parent, name }: Definition): string | undefined {
  if (parent?.type !== 'ImportDeclaration' || node.type !== 'ImportSpecifier') return undefined;
  return `import { ${name.name} } from '${parent.source.value}';`;
}

/** acorn's trees are ESTree's; only the declarations of the two packages differ. */
function isEstree(node: object): node is Program {
  return 'type' in node && node.type === 'Program';
}

/**
 * Makes the sample print what its comments show. A comment shows a value behind a statement (`f(x); // 42`), or in the
 * lines below it. `f(x); // ERR_LONGPOLE_…` shows the error.
 */
async function printingValues(
  text: string,
): Promise<Pick<SampleModule, 'shown' | 'shownBelow'> & { readonly printing: string }> {
  const shown: string[] = [];
  const shownBelow: string[] = [];
  const printing: string[] = [];
  let previous = '';
  for (const line of text.split('\n')) {
    const below = previous.trim() === '' ? undefined : /^\s*\/\/ (.+)$/.exec(line)?.[1];
    const behind = /^(\s*)(\S.*);\s*\/\/ (.+)$/.exec(line);
    const value = below ?? behind?.[3] ?? '';
    const statement = behind?.[2] ?? '';
    previous = line;
    printing.push(line);
    if (!VALUE.test(value)) continue;
    if (below !== undefined) {
      shownBelow.push(value);
      continue;
    }
    if (!statement.startsWith('console.log(')) {
      if (!(await isExpression(statement))) continue;
      printing[printing.length - 1] = `${behind![1]}${printingStatement(statement, value)}`;
    }
    shown.push(value.replace(/^(ERR_\w+)$/, '$1…'));
  }
  return { printing: printing.join('\n'), shown, shownBelow };
}

/** Prints strings with quotes, as a comment shows them, and an error with its code. */
function printingStatement(expression: string, value: string): string {
  if (!value.startsWith('ERR_'))
    return `console.log(process.getBuiltinModule('node:util').inspect(${expression}));`;
  const onError = "(error) => console.log(error.code + ': ' + error.message)";
  return `await (async () => ${expression})().then(() => console.log('no error'), ${onError});`;
}

async function isExpression(text: string): Promise<boolean> {
  try {
    await javascriptOf(`(${text})`, 'ts');
    return true;
  } catch {
    return false;
  }
}
