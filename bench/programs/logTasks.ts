import { tasks } from 'longpole';
import * as steps from './logSteps.js';

export const { parse, group, merge, join, top } = tasks(import.meta.url, { ...steps });
