import { repositoryPath } from '../support/repository.js';

/** Environment of a Python program that imports `longpole` from this checkout. */
export const ENVIRONMENT: NodeJS.ProcessEnv = {
  ...process.env,
  LONGPOLE_NODE: process.execPath,
  PYTHONPATH: repositoryPath('python'),
};
