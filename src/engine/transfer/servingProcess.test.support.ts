// A process that serves results to a test: 1 is small, 2 has 64 MB, 3 is never served. It sends its parent its address,
// and the id of each requested result before it serves the result.
import { join } from 'node:path';
import type { PackedResult } from '../../protocol/packedResult.js';
import { packResult } from '../worker/packResult.js';
import { PeerServer } from './peerServer.js';

const [folder = '', name = ''] = process.argv.slice(2);
const large = packResult(new Float64Array(8_000_000));

function get(id: number): PackedResult | Promise<PackedResult> {
  process.send?.(id);
  if (id === 1) return packResult('small');
  return id === 2 ? large : new Promise(() => undefined);
}

const server = new PeerServer({
  source: { get },
  file: (file) => join(folder, file),
  name,
  token: 'secret',
  worker: 0,
  now: () => performance.now() / 1000,
});
process.once('disconnect', () => process.exit());
process.send?.(await server.listen());
