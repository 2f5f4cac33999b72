import { program } from '../kubernetes.ts';

/** Every value of every Secret of these namespaces that nobody could guess, by `namespace/name/key`. */
export async function secretValues(): Promise<Map<string, string>> {
  const text = await program('kubectl', 'get', 'secrets', '--all-namespaces', '-o', 'json');
  const { items } = JSON.parse(text) as {
    items: { metadata: { name: string; namespace: string }; data?: Record<string, string> }[];
  };
  return new Map(
    items.flatMap(({ metadata, data = {} }) =>
      Object.entries(data)
        .map(
          ([key, value]) =>
            [`${metadata.namespace}/${metadata.name}/${key}`, Buffer.from(value, 'base64').toString()] as const,
        )
        .filter(([, value]) => /^[!-~]{16,128}$/.test(value) && !value.includes('://')),
    ),
  );
}
