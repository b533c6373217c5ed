// Marks tasks as NVTX ranges, so that NVIDIA's Nsight Systems shows them beside the GPU's work. The system's library
// marks them. Without an attached tool, it does nothing.
import { openLibrary } from '../../resources/nativeLibrary.js';
import { addTaskHook } from './taskHook.js';

/** The library of CUDA up to 12, that of NVTX 3 for other languages than C, and CUDA's own folder. */
const LIBRARIES = ['libnvToolsExt.so.1', 'libnvtx3interop.so', '/usr/local/cuda/lib64/libnvToolsExt.so.1'];
const OTHER_LIBRARIES: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  win32: ['nvToolsExt64_1.dll', 'nvtx3interop.dll'],
  darwin: ['libnvToolsExt.dylib', 'libnvtx3interop.dylib'],
};

/** Nested ranges of the thread that pushes them. */
export interface Nvtx {
  push(message: string): void;
  pop(): void;
}

/**
 * Opens the system's NVTX library; undefined if there is none. `library` is the first path to try, by default the
 * environment variable LONGPOLE_NVTX_LIBRARY.
 */
export function openNvtx(library: string | undefined = environmentLibrary()): Nvtx | undefined {
  const libraries = OTHER_LIBRARIES[process.platform] ?? LIBRARIES;
  return openLibrary(library === undefined ? libraries : [library, ...libraries], (handle) => {
    // Both return the depth of the range, but tools may return anything.
    const push: (message: string) => number = handle.func('int nvtxRangePushA(const char *)');
    const pop: () => number = handle.func('int nvtxRangePop()');
    return { push: (message) => void push(message), pop: () => void pop() };
  });
}

let marking = false;

/** Makes every later task of this isolate a range. Does nothing without NVTX, which is searched for once. */
export function markTasks(): void {
  if (marking) return;
  marking = true;
  const nvtx = openNvtx();
  if (nvtx === undefined) return;
  const pop = (): void => nvtx.pop();
  addTaskHook({ before: (key) => nvtx.push(key), after: pop, seceded: pop });
}

function environmentLibrary(): string | undefined {
  const { LONGPOLE_NVTX_LIBRARY } = process.env;
  return LONGPOLE_NVTX_LIBRARY;
}
