import { defineApi, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { nameLength } from '../../api/names.ts';
import { atMost, notOffered, onlyOffered } from '../../api/offering.ts';
import { serviceRef } from '../../api/references.ts';
import { nodeSelector, resources } from '../../api/scheduling.ts';
import { choice, int, object, string } from '../../api/schema.ts';
import { common, phase } from '../../api/status.ts';

/** Why nothing runs a storlet: what the gateway `docker` needs of a node (storlets.gateway.gateways.docker.runtime). */
const runtime =
  'the gateway docker starts containers by the socket of a Docker on its own node, and speaks with them by pipes in a directory of that node; pods that meet "restricted" have neither';

/** A field of pods, which it has none of. */
const ofPods = (field: string, way: string) => [
  notOffered(field, `Storlets has no pods, its middleware runs in the proxies of Swift; ${way}`),
];
const ofProxies = (what: string, field: string) => `${what} Not offered: it has no pods; state ${field} of the Swift.`;

/** Computing inside object storage. */
export const Storlets = defineApi({
  kind: 'Storlets',
  plural: 'storlets',
  shortName: 'osst',
  description: 'The API of storlets in the proxies of a Swift.',
  nameLength: nameLength.service,
  spec: object('Desired state of Storlets. It has no pods: its middleware runs in the proxies of Swift.', {
    gateway: choice(
      'What runs storlets: stub runs none, and gives data back as they are, so that clients can be tried. docker is not offered.',
      ['stub', 'docker'],
      { fallback: 'stub', rules: [onlyOffered('gateway', ['stub'])] },
    ),
    gatewayReplicas: int('How many pods run storlets: none.', {
      minimum: 0,
      maximum: 100,
      fallback: 0,
      rules: [atMost(0, 'gatewayReplicas', runtime)],
    }),
    replicas: int(ofProxies('Number of pods.', 'replicas'), {
      minimum: 0,
      maximum: 100,
      rules: ofPods('replicas', 'state replicas of the Swift, which are its proxies'),
    }),
    image: string(ofProxies('Image of pods.', 'images'), {
      maxLength: 512,
      rules: ofPods('image', 'state an image that has the middleware in images.proxy of the Swift'),
    }),
    resources: resources(
      ofProxies('Requests and limits of pods.', 'resources'),
      'none',
      ofPods('resources', 'state resources of the Swift'),
    ),
    nodeSelector: nodeSelector(
      ofProxies('Node labels of pods.', 'nodeSelector'),
      ofPods('nodeSelector', 'state nodeSelector of the Swift'),
    ),
    swiftRef: serviceRef('Swift', 'whose proxies get the middleware'),
  }),
  status: object('Observed state of Storlets.', { ...common, phase }),
});

export type Storlets = ObjectOf<typeof Storlets>;
export type StorletsSpec = SpecOf<typeof Storlets>;
export type StorletsStatus = StatusOf<typeof Storlets>;
