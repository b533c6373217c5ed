// The directory of the trace, which exists, for the module that `longpole run` loads into the program. The module removes
// the environment variable, so that the program and its children do not have it.
export const DIRECTORY_VARIABLE = 'LONGPOLE_RUN';
