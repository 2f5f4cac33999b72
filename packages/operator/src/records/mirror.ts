import type { MirrorApi } from '@openstack-operator/openstack';
import { HttpError, type JsonApi } from './http.ts';

/** An item, and who is of it. */
interface Mirrored {
  readonly uuid: string;
  readonly title: string;
  readonly members: readonly string[];
}

interface Entry {
  readonly uuid: string;
  readonly name: string;
}

/**
 * Takes members out of items that they have left, where the mirror did not hear of that; says in words what it changed. What
 * somebody else changes at the same time is left to the next run.
 * @param list gives the items as the service has them now
 * @param placed the members that this is about
 */
export async function leaveMirror(
  api: JsonApi,
  { list: path, items: key, path: pathOfOne, as }: MirrorApi,
  list: () => Promise<readonly Mirrored[]>,
  placed: ReadonlySet<string>,
): Promise<string[]> {
  const mirrored = new Map<string, readonly Entry[]>();
  for (const { uuid } of await list()) {
    const answer = (await api.call('GET', path.replace('{id}', uuid))) as Readonly<Record<string, readonly Entry[]>>;
    mirrored.set(uuid, answer[key] ?? []);
  }
  const changes: string[] = [];
  // The service has a member before its mirror has: who is in the mirror already, and not there now, has left.
  for (const { uuid, title, members } of mirrored.size === 0 ? [] : await list()) {
    const present = new Set(members);
    for (const entry of mirrored.get(uuid) ?? []) {
      if (!placed.has(entry.name) || present.has(entry.name)) continue;
      const isChanged = await leave(api, pathOfOne.replace('{id}', entry.uuid), as, uuid);
      if (isChanged) changes.push(`removed ${entry.name} from ${title} in its mirror`);
    }
  }
  return changes;
}

/** The answer to the GET has the generation that the PUT is to show. */
async function leave(api: JsonApi, path: string, as: string, uuid: string): Promise<boolean> {
  try {
    const before = (await api.call('GET', path)) as Readonly<Record<string, readonly string[]>>;
    await api.call('PUT', path, { ...before, [as]: before[as]?.filter((one) => one !== uuid) ?? [] });
    return true;
  } catch (error) {
    if (error instanceof HttpError && (error.status === 404 || error.status === 409)) return false;
    throw error;
  }
}
