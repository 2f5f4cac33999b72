import type { ApiServer } from '../api-server.ts';

/** Requests by verb, such as `POST` or `PUT status`, as the API server has counted them. */
export type Requests = ReadonlyMap<string, number>;

/** The resources of the small operator. */
const resources = new Set(['websites', 'configmaps', 'secrets', 'services', 'deployments']);
/** What the measurement itself does: it creates Websites, and says that Deployments are available. */
const ownRequests = new Set(['POST websites', 'PATCH deployments/status']);

/**
 * The requests about the small operator's resources so far, those of the measurement left out. Watches are not among
 * them: the server counts a watch when it ends.
 */
export function countedRequests(server: ApiServer): Requests {
  const counted = new Map<string, number>();
  for (const [, labels = '', value] of server
    .kubectl('get', '--raw', '/metrics')
    .matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    const of = (label: string) => new RegExp(`\\b${label}="([^"]*)"`).exec(labels)?.[1] ?? '';
    const [verb, resource, subresource] = [of('verb'), of('resource'), of('subresource')];
    if (!resources.has(resource) || verb === 'WATCH') continue;
    if (ownRequests.has(`${verb} ${resource}${subresource === '' ? '' : `/${subresource}`}`)) continue;
    const name = subresource === '' ? verb : `${verb} ${subresource}`;
    counted.set(name, (counted.get(name) ?? 0) + Number(value));
  }
  return counted;
}

/** What has come since an earlier count. */
export function since(before: Requests, after: Requests): Requests {
  const more = [...after].map(([verb, count]): [string, number] => [verb, count - (before.get(verb) ?? 0)]);
  return new Map(more.filter(([, count]) => count !== 0));
}

export function sum(requests: Requests): number {
  return [...requests.values()].reduce((all, count) => all + count, 0);
}

/** Those that may change something. */
export function writes(requests: Requests): number {
  return sum(new Map([...requests].filter(([verb]) => !/^(GET|LIST)\b/.test(verb))));
}
