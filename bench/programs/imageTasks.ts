import { tasks } from 'longpole';
import * as steps from './imageSteps.js';

export const { synth, resize, blur, stats, merge } = tasks(import.meta.url, { ...steps });
