// The page that `longpole diff --page` writes. It decompresses and checks the data in the document and shows them.
import { render } from 'preact';
import { decodeDiffPage } from '../analysis/diff/diffPageData.js';
import { LongpoleError } from '../base/errors.js';
import { unpackPageData } from './source/inflate.js';
import './views/base.css';
import './views/shell.css';
import './views/summary.css';
import './views/tables.css';
import './views/diff.css';
import { DiffView } from './views/diffView.js';
import { Problem } from './views/parts.js';
import { showTextsSafely } from './views/shownText.js';

async function readData(): Promise<Uint8Array> {
  const text = document.getElementById('longpole-diff')?.textContent?.trim() ?? '';
  if (text === '')
    throw new LongpoleError(
      'ERR_LONGPOLE_PAGE_DATA',
      'The page contains no data. Write it again with longpole diff --page.',
    );
  return await unpackPageData(text);
}

showTextsSafely();

const app = document.getElementById('app');
if (app !== null) {
  try {
    render(<DiffView data={decodeDiffPage(await readData())} />, app);
  } catch (error) {
    render(<Problem error={error} />, app);
  }
}
