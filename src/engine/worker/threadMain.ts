// Entry point of a worker thread.
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { internalError, sentenceOf } from '../../base/errors.js';
import { type IsolateBirth, NOTHING_MEASURED, type ToIsolate } from '../../protocol/isolateMessages.js';
import { NATIVE_CELL } from '../../protocol/mailbox.js';
import { sayEnding, setNativeGuard } from '../../resources/nativeGuard.js';
import { useCompiler } from './importModule.js';
import { setInspectorHooks } from './inspectorHooks.js';
import { IsolateRuntime } from './isolateRuntime.js';
import { printUncaughtErrors, watchOutput } from './taskOutput.js';

if (parentPort === null) throw internalError('threadMain was not imported by a worker thread.');
const port = parentPort;
const birth: IsolateBirth = workerData;
setNativeGuard({ cells: birth.mailbox, index: NATIVE_CELL });
process.on('exit', sayEnding);
if (birth.compiler !== undefined) useCompiler(birth.compiler);
const runtime = new IsolateRuntime(
  {
    post: (message) => port.postMessage(message),
    receive: () => receiveMessageOnPort(port)?.message,
  },
  birth,
);
setInspectorHooks(
  () => runtime.interrupt(),
  () => runtime.standing(),
);
printUncaughtErrors(birth.name);
if (birth.metered)
  watchOutput((output) =>
    port.postMessage({ type: 'measured', measures: { ...NOTHING_MEASURED, output: [output] } }),
  );
port.on('message', (message: ToIsolate) => runtime.handle(message));
// The message is lost, and its sender would wait for ever. So the thread ends, and its tasks run elsewhere.
port.on('messageerror', (error) => {
  throw internalError(`A message to the worker could not be read: ${sentenceOf(error)}`, { cause: error });
});
port.postMessage({ type: 'ready', time: runtime.now() });
