// Kinds without a server: what an API server does with an object of a kind before it stores it.

export { builtinResourceTypes } from './resources/builtin/builtin-resource-types.ts';
export { resourceTypeFromCrd } from './resources/crd.ts';
export { pruneUnknown } from './resources/pruning.ts';
export type { Cell, Column, FieldError, ResourceType, ScalePaths } from './resources/resource-type.ts';
export type { Schema, ValidationRule } from './resources/schema.ts';
