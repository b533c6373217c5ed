// Modules that the program's loader compiled, for isolates without that loader.

/** A module in JavaScript, with an inline source map. */
export interface CompiledModule {
  readonly source: string;
  /** Specifiers of its imports → URLs. */
  readonly imports: ReadonlyMap<string, string>;
}

/** The modules by URL that a module imports directly or indirectly, and itself. Modules that Node can load are missing. */
export type CompiledModules = ReadonlyMap<string, CompiledModule>;

/** A port that takes URLs and answers each with the modules. */
interface CompilerPort {
  postMessage(url: string): void;
  on(event: 'message', listener: (answer: CompiledAnswer) => void): unknown;
}

/** The compiler of a program, as an isolate receives it at its birth. */
export interface RemoteCompiler {
  readonly port: CompilerPort;
  /** Options of Node that load the compiler, which the isolate was started without. */
  readonly execArgv: readonly string[];
}

export interface CompiledAnswer {
  readonly url: string;
  /** Undefined if the isolate has to compile the module. */
  readonly modules: CompiledModules | undefined;
}

/** Scheme of a module that exports the format and the text of the module behind it. See engine/pool/programHooks.ts. */
export const COMPILED = 'longpole-compiled:';
/** Scheme of a specifier and the URL of its parent, as JSON. */
export const RESOLVED = 'longpole-resolved:';
