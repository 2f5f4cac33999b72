import { subdomain } from './names.ts';
import { type Form, type Infer, nameOf, object, string, transition } from './schema.ts';

const form: Form = {
  pattern: '^[0-9]+(\\.[0-9]+)?([KMGTPE]i|[kMGTPE])?$',
  expected: 'a size such as 10Gi: the units are k, M, G, T and Ki, Mi, Gi, Ti, without B and without blanks',
};

/** A size that may change; `fallback`: what it is where none is stated. */
export const size = (what: string, fallback?: string) =>
  string(what, { maxLength: 32, form, ...(fallback === undefined ? {} : { fallback }) });

/**
 * A volume. It may grow where its StorageClass allows that. It never shrinks, but a smaller size may be stated: a larger one
 * that is refused could not be taken back otherwise.
 */
export function storage(what: string, fallback: string) {
  return object(what, {
    size: size(
      'Least size, such as 10Gi. Raised, volumes grow if their StorageClass allows it; they never shrink.',
      fallback,
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
