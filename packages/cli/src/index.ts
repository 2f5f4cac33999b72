export { minimalControlPlane } from './minimal-control-plane.ts';
export { createRehearsal, operatorNamespace, type Rehearsal, type RunningOperator, resourcesIn } from './rehearsal.ts';
export { objectsOf, type Rendered, renderAll } from './render.ts';
export { type Mistake, validateResource } from './validate.ts';
