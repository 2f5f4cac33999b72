export type { Mistake } from './admission.ts';
export { composedMistakes } from './composed-mistakes.ts';
export { minimalControlPlane } from './minimal-control-plane.ts';
export { overNetwork } from './operator-image.ts';
export { program } from './program.ts';
export {
  createRehearsal,
  type OperatorLife,
  operatorNamespace,
  type Rehearsal,
  type RehearsalOptions,
  type RunningOperator,
  resourcesIn,
} from './rehearsal.ts';
export { objectsOf, type Rendered, renderAll } from './render.ts';
export { soundPart } from './sound-part.ts';
export { validateResource } from './validate-resource.ts';
