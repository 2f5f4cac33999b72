import { OpenStackDataPlane } from '@openstack-operator/openstack';
import { type RefusedSpec, refused } from './refused-spec.ts';

const hostKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKkn0gk5oW3cQ1Hq0t4n8t1yGm3Zr1nXc0v8yq2m5b7A';
const node = { hostname: 'compute-1', ip: '192.0.2.11', role: 'compute', sshSecretName: 'key', hostKey };
const nodes = [node];
const addresses = { messageQueue: { host: '192.0.2.100' }, southbound: 'tcp:192.0.2.101:6642' };
const well = { nodes, addresses, images: { deploy: 'registry.example.com/ansible:1' } };

const wrong = (field: string, words: string, spec: object, instead: object = {}) =>
  refused(OpenStackDataPlane, `spec.${field}`, words, { ...well, ...spec }, { ...well, ...instead });
const inNode = (field: string, words: string, more: object) =>
  wrong(`nodes[0].${field}`, words, { nodes: [{ ...node, ...more }] });
const variables = (name: string) => ({ ansibleExtraVars: { [name]: 'x' } });

/** Specs of hosts outside of the cluster that are refused. */
export const dataPlaneRules: readonly RefusedSpec[] = [
  inNode('hostname', 'expected a name in lower case', { hostname: 'compute_1; reboot' }),
  inNode('ip', 'expected an address such as 192.0.2.11', { ip: '192.0.2.11 -o ProxyCommand=x' }),
  inNode('hostKey', 'expected type and key', { hostKey: `${hostKey} comment` }),
  wrong('nodes', 'hosts of role storage need a playbook of your own', { nodes: [{ ...node, role: 'storage' }] }),
  wrong(
    'servicesOverride',
    'libvirt can be switched off together with novaCompute only',
    { servicesOverride: { libvirt: false } },
    { servicesOverride: { libvirt: false, novaCompute: false } },
  ),
  wrong('images', 'the known names are deploy, host-discovery', { images: { ...well.images, compute: 'a' } }),
  wrong('ansibleExtraVars', 'expected names of variables', variables('a-b'), variables('a_b')),
  wrong(
    'ansibleExtraVars',
    'variables openstack_* follow from the other fields, and of ansible_* only',
    variables('ansible_host'),
    variables('ansible_user'),
  ),
];
