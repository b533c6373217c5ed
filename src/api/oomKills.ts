// Whether the system ended a process for lack of memory, for the command line.
export { killReason, oomKills } from '../resources/oomKills.js';
