import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { monitorHosts, monitorNames } from '../ceph/names.ts';
import { controlPlane, type Place, root } from './place.ts';
import { hasCeph } from './sample.ts';
import { tunnelNetwork } from './tunnels.ts';
import type { Wanted } from './up.ts';

/** What images/build says of an archive: every image in it has this tag. */
export interface ImageSet {
  readonly tag: string;
  readonly archive: string;
  readonly names: readonly string[];
}

/** All images of a cloud. */
export interface Images extends ImageSet {
  readonly operator: ImageSet;
}

/** Writes the kustomizations that name this machine's images: of config/default, and of a sample of a control plane. */
export function writeOverlay(place: Place, images: Images, { sample, nodes, monitors }: Wanted): void {
  const operatorImage = images.operator.names.find((name) => name.startsWith('localhost/')) ?? '';
  const [newName, newTag] = splitTag(operatorImage);
  write(join(place.overlay, 'operator'), {
    resources: [relative(join(place.overlay, 'operator'), join(root, 'config/default'))],
    images: [{ name: 'ghcr.io/openstack-operator/openstack-operator', newName, newTag }],
  });
  const [name = ''] = images.names;
  const directory = join(place.overlay, 'control-plane');
  write(directory, {
    resources: ['namespace.yaml', basename(sample.file)],
    patches: [
      {
        target: { kind: 'OpenStackControlPlane' },
        patch: JSON.stringify([
          { op: 'add', path: '/spec/imageRegistry', value: name.slice(0, name.lastIndexOf('/')) },
          { op: 'add', path: '/spec/imageTag', value: images.tag },
          nodes > 1
            ? {
                op: 'add',
                path: '/spec/nova/nodeGroups',
                value: [{ name: 'default', tunnelNetwork: tunnelNetwork(place) }],
              }
            : // A cloud of one node has no other to resize to.
              {
                op: 'add',
                path: '/spec/nova/config',
                value: { 'nova.conf': { DEFAULT: { allow_resize_to_same_host: true } } },
              },
          ...(hasCeph(sample)
            ? [
                {
                  op: 'replace',
                  path: '/spec/cephStorage/external/monitorHosts',
                  value: monitorHosts(monitorNames(monitors)),
                },
              ]
            : []),
          // Those of the sample are not those of this machine.
          ...(sample.spec['nodeNetworks'] === undefined ? [] : [{ op: 'remove', path: '/spec/nodeNetworks' }]),
        ]),
      },
    ],
  });
  // kustomize takes single files from its own directory only.
  copyFileSync(sample.file, join(directory, basename(sample.file)));
  writeFileSync(
    join(directory, 'namespace.yaml'),
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: controlPlane.namespace,
        labels: {
          'openstack.k8s.io/node-agents': 'allowed',
          'pod-security.kubernetes.io/enforce': 'privileged',
        },
      },
    }),
  );
}

function splitTag(image: string): [string, string] {
  const colon = image.lastIndexOf(':');
  return [image.slice(0, colon), image.slice(colon + 1)];
}

function write(directory: string, kustomization: object): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'kustomization.yaml'), JSON.stringify(kustomization, null, 2));
}
