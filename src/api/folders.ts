// Writing of files and folders, for the command line.
export { makeFolder, makeFolders, writePieces } from '../files/writePieces.js';
