// Tasks as NVTX ranges, so that NVIDIA's Nsight Systems shows them beside what the GPU does. The ranges are marked through the
// system's library; without a tool attached to the process it does nothing.
import { openLibrary } from '../../resources/nativeLibrary.js';
import { addTaskHook } from './taskHook.js';

/** The library of CUDA up to 12, that of NVTX 3 for other languages than C, and where CUDA puts its own. */
const LIBRARIES = ['libnvToolsExt.so.1', 'libnvtx3interop.so', '/usr/local/cuda/lib64/libnvToolsExt.so.1'];
const OTHER_LIBRARIES: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  win32: ['nvToolsExt64_1.dll', 'nvtx3interop.dll'],
  darwin: ['libnvToolsExt.dylib', 'libnvtx3interop.dylib'],
};

/** Ranges of the thread that pushes them; they nest. */
export interface Nvtx {
  push(message: string): void;
  pop(): void;
}

/**
 * The system's NVTX library; undefined where there is none. `library` is a path to look at first, default the variable
 * LONGPOLE_NVTX_LIBRARY of the environment.
 */
export function openNvtx(library: string | undefined = environmentLibrary()): Nvtx | undefined {
  const libraries = OTHER_LIBRARIES[process.platform] ?? LIBRARIES;
  return openLibrary(library === undefined ? libraries : [library, ...libraries], (handle) => {
    // Both return how deep the range is, which tools may answer as they like.
    const push: (message: string) => number = handle.func('int nvtxRangePushA(const char *)');
    const pop: () => number = handle.func('int nvtxRangePop()');
    return { push: (message) => void push(message), pop: () => void pop() };
  });
}

let marking = false;

/** From now on every task of this isolate is a range; nothing where there is no NVTX, which is looked for once. */
export function markTasks(): void {
  if (marking) return;
  marking = true;
  const nvtx = openNvtx();
  if (nvtx !== undefined) addTaskHook({ before: (key) => nvtx.push(key), after: () => nvtx.pop() });
}

function environmentLibrary(): string | undefined {
  const { LONGPOLE_NVTX_LIBRARY } = process.env;
  return LONGPOLE_NVTX_LIBRARY;
}
