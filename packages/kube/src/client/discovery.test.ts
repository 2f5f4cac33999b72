import { expect, test } from 'vitest';
import { ApiError } from '../objects/errors.ts';
import { discoverKinds } from './discovery.ts';

const verbs = ['get', 'list'];

function readFrom(answers: Record<string, unknown>) {
  const asked: string[] = [];
  const read = async (path: string) => {
    asked.push(path);
    const answer = answers[path];
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { read, asked };
}

function refusal(code: number): ApiError {
  return new ApiError({ kind: 'Status', apiVersion: 'v1', code, message: 'away' }, 'GET');
}

const pods = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  namespaced: true,
  verbs,
  shortNames: ['po'],
  categories: ['all'],
  subresources: ['log', 'status'],
};

const routes = (version: string) => ({
  group: 'x.example',
  version,
  kind: 'Route',
  plural: 'routes',
  namespaced: false,
  verbs,
  shortNames: [],
  categories: [],
  subresources: [],
});

test('aggregated discovery: two requests, the order of the server', async () => {
  const route = { resource: 'routes', responseKind: { kind: 'Route' }, scope: 'Cluster', verbs };
  const { read, asked } = readFrom({
    '/api': {
      kind: 'APIGroupDiscoveryList',
      items: [
        {
          metadata: {},
          versions: [
            {
              version: 'v1',
              resources: [
                {
                  resource: 'pods',
                  responseKind: { group: '', version: 'v1', kind: 'Pod' },
                  scope: 'Namespaced',
                  verbs,
                  shortNames: ['po'],
                  categories: ['all'],
                  subresources: [{ subresource: 'log' }, { subresource: 'status' }],
                },
                // Only there for its subresources.
                { resource: 'things', scope: 'Namespaced', subresources: [{ subresource: 'status' }] },
              ],
            },
          ],
        },
      ],
    },
    '/apis': {
      kind: 'APIGroupDiscoveryList',
      items: [
        {
          metadata: { name: 'x.example' },
          versions: [
            { version: 'v2', resources: [route] },
            { version: 'v1', resources: [route] },
            { version: 'v0', freshness: 'Stale' },
          ],
        },
      ],
    },
  });
  expect(await discoverKinds(read, () => {})).toEqual([pods, routes('v2'), routes('v1')]);
  expect(asked).toEqual(['/api', '/apis']);
});

const legacy = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/api/v1': {
    resources: [
      { name: 'pods', kind: 'Pod', namespaced: true, verbs, shortNames: ['po'], categories: ['all'] },
      { name: 'pods/log', kind: 'Pod', namespaced: true, verbs },
      { name: 'pods/status', kind: 'Pod', namespaced: true, verbs },
    ],
  },
  '/apis': {
    kind: 'APIGroupList',
    groups: [
      {
        name: 'x.example',
        versions: [{ version: 'v1' }, { version: 'v2' }],
        preferredVersion: { version: 'v2' },
      },
      { name: 'away.example', versions: [{ version: 'v1' }] },
    ],
  },
  '/apis/x.example/v1': { resources: [{ name: 'routes', kind: 'Route', namespaced: false, verbs }] },
  '/apis/x.example/v2': { resources: [{ name: 'routes', kind: 'Route', namespaced: false, verbs }] },
  '/apis/away.example/v1': refusal(503),
};

test('an older server: one request for each version; a group that is away is told, not fatal', async () => {
  const warnings: string[] = [];
  const { read } = readFrom(legacy);
  expect(await discoverKinds(read, (text) => warnings.push(text))).toEqual([pods, routes('v2'), routes('v1')]);
  expect(warnings).toEqual(['discovery leaves out /apis/away.example/v1: GET: away']);
});

test('what is forbidden is not taken for absent', async () => {
  const { read } = readFrom({ ...legacy, '/apis/away.example/v1': refusal(403) });
  await expect(discoverKinds(read, () => {})).rejects.toMatchObject({ code: 403 });
});
