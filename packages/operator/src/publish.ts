import { type Client, isApiError, type KubeObject, Secret } from '@openstack-operator/kube';
import { fieldManager } from '@openstack-operator/openstack';

/** What `openstack-operator publish` and `fetch` need of the world. */
export interface ArtifactWorld {
  readonly connect: () => Promise<{ readonly client: Client; readonly namespace: string }>;
  readonly read: (path: string) => Uint8Array;
  /** Makes the directories above as well. */
  readonly write: (path: string, content: Uint8Array) => void;
  readonly print: (line: string) => void;
}

/** What an API server takes of a Secret, in bytes of its values (core/v1, MaxSecretSize). */
const largest = 1_048_576;

/** The file beside those that were fetched that says which state of the Secret they are. */
const stateFile = '.resource-version';

type Data = Readonly<Record<string, string>> | undefined;

/** The key by which a Secret says that what it has of an artifact is as old as when another one took its place. */
const mark = 'superseded';

const usage = 'usage: openstack-operator publish [--supersedes SECRET] [--from DIR] SECRET FILE...';

/**
 * `openstack-operator publish [--supersedes SECRET] [--from DIR] SECRET FILE...`: what a Job has made becomes the data of a
 * Secret that exists, each file under its name; keys of earlier files go. Run twice it changes nothing. With `--from` it goes
 * on from the state that `fetch` has laid out there, and other keys stay: a later operator may have published them. A Secret
 * that it supersedes, and that has some of these keys from an earlier operator, gets the key `superseded`: nobody takes them
 * for current once this one is lost. Prints no contents.
 * @returns the exit code: 0 done; 1 a file or the Secret is not there, is too large, or was changed since; 2 wrong arguments
 */
export async function runPublish(args: readonly string[], world: ArtifactWorld): Promise<number> {
  const former = args[0] === '--supersedes' ? args[1] : undefined;
  const rest = former === undefined ? args : args.slice(2);
  const from = rest[0] === '--from' ? rest[1] : undefined;
  const [name, ...paths] = from === undefined ? rest : rest.slice(2);
  if (name === undefined || name.startsWith('-') || paths.length === 0) {
    world.print(usage);
    return 2;
  }
  return await told(world, async () => {
    const files = paths.map((path) => [path.slice(path.lastIndexOf('/') + 1), world.read(path)] as const);
    const size = files.reduce((sum, [, content]) => sum + content.length, 0);
    if (size > largest) throw new Error(`${size} bytes: a Secret holds ${largest} at most`);
    const data = Object.fromEntries(files.map(([key, content]) => [key, Buffer.from(content).toString('base64')]));
    const state = from === undefined ? {} : { metadata: { resourceVersion: text(world.read(`${from}/${stateFile}`)) } };
    const { client, namespace } = await world.connect();
    const ref = { namespace, name };
    const before = from === undefined ? ((await client.get<KubeObject>(Secret, ref))['data'] as Data) : {};
    const gone = Object.keys(before ?? {}).filter((key) => !(key in data));
    const patch = { ...state, data: { ...data, ...Object.fromEntries(gone.map((key) => [key, null])) } };
    try {
      await client.patch(Secret, ref, 'merge', patch, { fieldManager });
    } catch (error) {
      if (from === undefined || !isApiError(error, 409)) throw error;
      throw new Error(`Secret ${name} was changed since this run began: the next one goes on from there`, {
        cause: error,
      });
    }
    if (former !== undefined) await supersede(client, { namespace, name: former }, name, Object.keys(data));
    return `Secret ${name} has ${Object.keys(data).join(', ')}`;
  });
}

/** Marks a Secret that has some of the keys, unless it is marked. */
async function supersede(
  client: Client,
  ref: { readonly namespace: string; readonly name: string },
  by: string,
  keys: readonly string[],
): Promise<void> {
  const before = ((await client.get<KubeObject>(Secret, ref))['data'] as Data) ?? {};
  if (mark in before || !keys.some((key) => key in before)) return;
  const data = { [mark]: Buffer.from(`by Secret ${by}\n`).toString('base64') };
  await client.patch(Secret, ref, 'merge', { data }, { fieldManager });
}

/**
 * `openstack-operator fetch [--again] SECRET DIR KEY...`: lays out what an earlier run has published, each key as a file, for
 * the programs that go on from there. A Secret that has lost some of these keys, or their values, is no state to go on
 * from; with `--again` one that has none is none either. Prints no contents.
 * @returns the exit code: 0 done; 1 the Secret is not there or not whole, or the directory cannot be written; 2 wrong arguments
 */
export async function runFetch(args: readonly string[], world: ArtifactWorld): Promise<number> {
  const again = args[0] === '--again';
  const [name, directory, ...keys] = again ? args.slice(1) : args;
  if (name === undefined || directory === undefined || keys.length === 0) {
    world.print('usage: openstack-operator fetch [--again] SECRET DIR KEY...');
    return 2;
  }
  return await told(world, async () => {
    const { client, namespace } = await world.connect();
    const secret = await client.get<KubeObject>(Secret, { namespace, name });
    const data = Object.entries((secret['data'] as Data) ?? {});
    const filled = data.flatMap(([key, value]) => (value === '' ? [] : [key]));
    const lost = keys.filter((key) => !filled.includes(key));
    if (lost.length > 0 && (again || lost.length < keys.length))
      throw new Error(`Secret ${name} has lost ${lost.join(', ')}: restore it; nothing is made anew`);
    for (const [key, value] of data) world.write(`${directory}/${key}`, Buffer.from(value, 'base64'));
    world.write(`${directory}/${stateFile}`, Buffer.from(secret.metadata.resourceVersion ?? ''));
    return `Secret ${name} had ${data.map(([key]) => key).join(', ') || 'nothing yet'}`;
  });
}

function text(content: Uint8Array): string {
  return Buffer.from(content).toString();
}

/** Prints what was done, or why not. */
async function told({ print }: ArtifactWorld, work: () => Promise<string>): Promise<number> {
  try {
    print(await work());
    return 0;
  } catch (error) {
    print((error as Error).message);
    return 1;
  }
}
