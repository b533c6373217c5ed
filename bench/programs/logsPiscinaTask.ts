import { type Groups, group, parse } from './logSteps.js';

export default async (file: string): Promise<Groups> => group(await parse(file));
