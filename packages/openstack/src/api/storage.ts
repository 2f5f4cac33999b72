import { subdomain } from './names.ts';
import { type Form, type Infer, nameOf, object, string, transition } from './schema.ts';

const form: Form = {
  pattern: '^[0-9]+(\\.[0-9]+)?([KMGTPE]i|[kMGTPE])?$',
  expected: 'a size such as 10Gi: the units are k, M, G, T and Ki, Mi, Gi, Ti, without B and without blanks',
};

/** A size that may change; `fallback`: what it is where none is stated. */
export const size = (what: string, fallback?: string) =>
  string(what, { maxLength: 32, form, ...(fallback === undefined ? {} : { fallback }) });

/** A volume. It may grow where its StorageClass allows that; it never shrinks. */
export function storage(what: string, fallback: string) {
  return object(what, {
    size: transition(
      string('Requested size, such as 10Gi. It can be raised where the StorageClass allows expansion, never lowered.', {
        maxLength: 32,
        form,
        fallback,
      }),
      {
        absent: JSON.stringify(fallback),
        allows: (next, previous) => `quantity(${next}).compareTo(quantity(${previous})) >= 0`,
        message: 'cannot be lowered: volumes never shrink',
      },
    ),
    storageClassName: transition(
      nameOf(
        'StorageClass',
        string('StorageClass of the volume.', {
          maxLength: 253,
          form: subdomain,
          otherwise: "the cluster's default StorageClass",
        }),
      ),
      {
        absent: '""',
        allows: (next, previous) => `${next} == ${previous}`,
        message: 'cannot be changed after creation: a volume stays in its StorageClass',
      },
    ),
  });
}

export type Storage = Infer<ReturnType<typeof storage>>;
