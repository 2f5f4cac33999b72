// The files of a container without a cluster: for tests of one program.

export { ContainerFileSystem } from './programs/file-system.ts';
export {
  directoryAt,
  emptyVolume,
  fileNode,
  plant,
  segments,
  type Volume,
} from './programs/file-tree.ts';
