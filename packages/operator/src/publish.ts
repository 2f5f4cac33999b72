import { type Client, type KubeObject, Secret } from '@openstack-operator/kube';
import { fieldManager } from '@openstack-operator/openstack';

/** What `openstack-operator publish` needs of the world. */
export interface PublishWorld {
  readonly connect: () => Promise<{ readonly client: Client; readonly namespace: string }>;
  readonly read: (path: string) => Uint8Array;
  readonly print: (line: string) => void;
}

/** What an API server takes of a Secret, in bytes of its values (core/v1, MaxSecretSize). */
const largest = 1_048_576;

/**
 * `openstack-operator publish SECRET FILE...`: what a Job has made becomes the data of a Secret that exists, each file under
 * its name; keys of earlier files go. Run twice it changes nothing. Prints no contents.
 * @returns the exit code: 0 done, 1 a file or the Secret is not there or too large, 2 wrong arguments
 */
export async function runPublish(args: readonly string[], world: PublishWorld): Promise<number> {
  const [name, ...paths] = args;
  if (name === undefined || paths.length === 0) {
    world.print('usage: openstack-operator publish SECRET FILE...');
    return 2;
  }
  try {
    const files = paths.map((path) => [path.slice(path.lastIndexOf('/') + 1), world.read(path)] as const);
    const size = files.reduce((sum, [, content]) => sum + content.length, 0);
    if (size > largest) throw new Error(`${size} bytes: a Secret holds ${largest} at most`);
    const data = Object.fromEntries(files.map(([key, content]) => [key, Buffer.from(content).toString('base64')]));
    const { client, namespace } = await world.connect();
    const ref = { namespace, name };
    const before = (await client.get<KubeObject>(Secret, ref))['data'] as Readonly<Record<string, string>> | undefined;
    const gone = Object.keys(before ?? {}).filter((key) => !(key in data));
    const patch = { data: { ...data, ...Object.fromEntries(gone.map((key) => [key, null])) } };
    await client.patch(Secret, ref, 'merge', patch, { fieldManager });
    world.print(`Secret ${name} has ${Object.keys(data).join(', ')}`);
    return 0;
  } catch (error) {
    world.print((error as Error).message);
    return 1;
  }
}
