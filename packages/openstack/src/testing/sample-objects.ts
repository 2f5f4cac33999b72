import { composed, objectsOf, resource, surroundings } from './compositions.ts';

/**
 * What a sample with further fields composes, by kind and name, as text. Digests at the end of names are left out.
 * @param read gives a sample of config/samples, by its name, as text
 */
export function sampleObjects(read: (name: string) => string, name: string, spec: object): Map<string, string> {
  const base = resource(read(name));
  const all = objectsOf(composed({ ...base, spec: { ...base.spec, ...spec } }, surroundings(read)));
  return new Map(
    all.map((desired) => {
      const { kind, metadata } = desired.object;
      const plain = kind === 'ConfigMap' ? metadata.name?.replace(/-[a-z0-5]{10}$/, '') : metadata.name;
      return [`${kind} ${plain}`, JSON.stringify(desired)];
    }),
  );
}
