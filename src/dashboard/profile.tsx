// The page that `visualize` writes: takes the data out of the document, inflates and checks it, and shows it. What goes
// wrong on the way is said on the page.
import { render } from 'preact';
import { LongpoleError } from '../base/errors.js';
import { decodeProfilePage } from '../protocol/profilePageCodec.js';
import { buildModel } from './model/profileModel.js';
import { unpackPageData } from './source/inflate.js';
import './views/base.css';
import './views/plots.css';
import './views/panels.css';
import { type PageHooks, ProfileApp } from './views/app.js';
import { PageState } from './views/pageState.js';
import { Problem } from './views/problem.js';

declare global {
  /** For tests and scripts: what the page shows, and when it is at rest. */
  var longpole: PageHooks | undefined;
}

async function readData(): Promise<Uint8Array> {
  const text = document.getElementById('longpole-data')?.textContent?.trim() ?? '';
  if (text === '') throw new LongpoleError('ERR_LONGPOLE_PAGE_DATA', 'The file holds no data.');
  return await unpackPageData(text);
}

const app = document.getElementById('app');
if (app !== null) {
  try {
    const model = buildModel(decodeProfilePage(await readData()));
    const state = new PageState(model);
    const register = (hooks: PageHooks) => {
      globalThis.longpole = hooks;
    };
    render(<ProfileApp state={state} register={register} />, app);
  } catch (error) {
    render(<Problem error={error} />, app);
  }
}
