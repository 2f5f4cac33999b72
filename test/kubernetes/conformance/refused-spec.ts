import type { Api } from '@openstack-operator/openstack';

/** A spec that the API server refuses: the field that it names, and words of its message. */
export interface RefusedSpec {
  readonly kind: Api;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly field: string;
  readonly words: string;
  /** Nearly the same spec, which is accepted. */
  readonly instead: Readonly<Record<string, unknown>>;
}

/** Words about what is refused by name. */
export const notYet = 'is not offered by this version of the operator';
/** A spec of a kind that is refused for a field, and nearly the same one, which is not. */
export const refused = (kind: Api, field: string, words: string, spec: object, instead: object): RefusedSpec => ({
  kind,
  spec: { ...spec },
  field,
  words,
  instead: { ...instead },
});
