export type { DynamicGroup } from './dynamic-groups.ts';
export type { OptionFacts, ValueFacts, ValueType } from './option-facts.ts';
export { releases, services } from './releases.ts';
export {
  authOptionsOf,
  authTypes,
  type EntryFacts,
  factsOf,
  type NamespaceFacts,
  pluginsOf,
  type ServiceFacts,
} from './service-facts.ts';
