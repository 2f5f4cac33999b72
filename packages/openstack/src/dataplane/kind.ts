import { defineApi, type ObjectOf, type SpecOf, type StatusOf } from '../api/define-api.ts';
import { nameLength, subdomain } from '../api/names.ts';
import { host, nameOfConfigMap, port, secretName, serviceRef } from '../api/references.ts';
import { nodeSelector } from '../api/scheduling.ts';
import { array, bool, choice, type Infer, int, map, object, required, rule, string } from '../api/schema.ts';
import { common, found, phase } from '../api/status.ts';
import {
  image,
  imagePullPolicy,
  imagePullSecrets,
  imageRegistry,
  imageTag,
  podPriority,
  podTolerations,
  release,
} from '../api/template.ts';
import { databaseRef } from '../infrastructure/mariadb/reference.ts';
import { cacheRef } from '../infrastructure/memcached/reference.ts';
import { connection, ovnRef } from '../infrastructure/ovn/reference.ts';
import { messageQueueRef } from '../infrastructure/rabbitmq/reference.ts';
import { keystoneRef } from '../services/keystone/reference.ts';

/** Machines that are no nodes of the cluster. */
const nodes = array(
  'Hosts outside of the cluster. A host that is taken out of the list is left as it is: disable its services in Nova and OVN, then remove them there.',
  object('One host.', {
    hostname: required(
      string('Name of the host in Nova, OVN and the inventory. It cannot be changed without making it another host.', {
        maxLength: 253,
        form: subdomain,
      }),
    ),
    ip: required(
      string('Address (IPv4 or IPv6) by which pods of the cluster reach the host, and at which its tunnels begin.', {
        maxLength: 39,
        rules: [rule('isIP(self)', 'expected an address such as 192.0.2.11 or 2001:db8::11, without a port')],
      }),
    ),
    role: required(
      choice(
        'What the host is for: compute runs servers, networker is a gateway of OVN, storage is for a playbook of your own.',
        ['compute', 'storage', 'networker'],
      ),
    ),
    sshSecretName: required(
      secretName(
        'Secret of type kubernetes.io/ssh-auth with the private key (ssh-privatekey) of a user who may become root there: root, or ansible_user of ansibleExtraVars. Hosts may share it.',
      ),
    ),
    hostKey: string(
      'Public key of the host, as `ssh-keyscan -t ed25519 <ip>` prints it after the address: nothing is sent to a machine that has another one. Without it the condition ConfigReady refuses the host.',
      {
        maxLength: 1024,
        form: {
          pattern: '^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)) [A-Za-z0-9+/]+=*$',
          expected: 'type and key, such as ssh-ed25519 AAAAC3..., without host and comment',
        },
      },
    ),
  }),
  { minItems: 1, maxItems: 250, keys: ['hostname'] },
);

/** What is installed. */
const servicesOverride = object('What is deployed on the hosts. A service that is switched off later is not removed.', {
  novaCompute: bool('Whether nova-compute is deployed on hosts of role compute.', { fallback: true }),
  ovnController: bool('Whether Open vSwitch and ovn-controller are deployed on hosts of role compute and networker.', {
    fallback: true,
  }),
  cephOSD: bool('Whether a playbook of your own is told to deploy OSDs on hosts of role storage.', { fallback: true }),
  libvirt: bool('Whether libvirt is deployed on hosts of role compute.', { fallback: true }),
});

/** Names of variables that users may set although Ansible reads them: all others of this beginning decide where it goes. */
const ansibleVariables = ['ansible_user', 'ansible_port', 'ansible_python_interpreter', 'ansible_become_method'];

const ansibleExtraVars = map(
  `Variables of Ansible that override those of the playbook. Of Ansible's own only ${ansibleVariables.join(', ')} can be set; those that begin with openstack_ are the operator's. They are no place for secrets.`,
  string('Value.', { maxLength: 4096 }),
  {
    maxProperties: 64,
    rules: [
      rule(
        "self.all(key, key.matches('^[A-Za-z_][A-Za-z0-9_]*$'))",
        'expected names of variables: letters, digits and underscores',
      ),
      rule(
        `self.all(key, !key.startsWith('openstack_') && (!key.startsWith('ansible_') || key in ${JSON.stringify(ansibleVariables)}))`,
        `variables openstack_* follow from the other fields, and of ansible_* only ${ansibleVariables.join(', ')} can be set: address, key and checks of the host are in spec.nodes`,
      ),
    ],
  },
);

/** Where hosts reach what runs in the cluster. */
const addresses = object(
  'Where hosts outside of the cluster reach what runs in it: names of Services mean nothing to them. What is external already needs none.',
  {
    messageQueue: object('The broker of Nova (AMQP), such as the address of a Service of type LoadBalancer.', {
      host: required(host('Host name or address.')),
      port: port('Port.', 5672),
    }),
    southbound: connection('The southbound database of OVN: tcp:address:6642[,tcp:...].'),
    identity: string('URL of Keystone.', {
      maxLength: 2048,
      form: {
        pattern: '^https?://[A-Za-z0-9.:/_~%\\[\\]-]+$',
        expected: 'a URL such as https://keystone.example.com/v3',
      },
      otherwise: 'its public URL, if it is exposed',
    }),
  },
);

const builtIn = 'the playbook of the operator';

/** Hosts outside of the cluster that run servers, or carry networks. */
export const OpenStackDataPlane = defineApi({
  kind: 'OpenStackDataPlane',
  plural: 'openstackdataplanes',
  shortName: 'osdp',
  description:
    'Hosts outside of the cluster that run servers or carry networks of a cloud. A Job configures them by Ansible, and again whenever anything that it is made from changes.',
  nameLength: nameLength.service,
  spec: object(
    'Desired state of OpenStackDataPlane.',
    {
      nodes: required(nodes),
      ansiblePlaybook: nameOfConfigMap(
        'ConfigMap with a playbook of your own (key playbook.yaml), which runs in place of that of the operator, with the same inventory and files.',
      ),
      ansibleExtraVars,
      servicesOverride,
      addresses,
      virtType: choice('What runs the guests: kvm, or qemu, which emulates and is slow.', ['kvm', 'qemu'], {
        otherwise: 'spec.virtType of the Nova',
      }),
      novaRef: serviceRef('Nova', 'whose servers the hosts run'),
      ovnRef,
      keystoneRef,
      messageQueueRef,
      databaseRef,
      cacheRef,
      release,
      images: map(
        'Full references of images, tag or digest: deploy has ansible-playbook and ssh.',
        image('Such as registry.example.com/openstack/ansible@sha256:...', 'the image of the release'),
        { keys: ['deploy', 'host-discovery'] },
      ),
      imageRegistry,
      imageTag,
      imagePullSecrets,
      imagePullPolicy,
      nodeSelector: nodeSelector('Node labels that the pods of its Jobs require: nodes that reach the hosts.'),
      tolerations: podTolerations,
      priorityClassName: podPriority,
    },
    {
      rules: [
        rule(
          "has(self.ansiblePlaybook) || self.nodes.all(node, node.role != 'storage')",
          `hosts of role storage need a playbook of your own (ansiblePlaybook): ${builtIn} deploys no OSDs, because it takes no disks, and runs no Ceph that they would belong to`,
          '.nodes',
        ),
        rule(
          'has(self.ansiblePlaybook) || !has(self.servicesOverride) || !has(self.servicesOverride.libvirt) || self.servicesOverride.libvirt || (has(self.servicesOverride.novaCompute) && !self.servicesOverride.novaCompute)',
          `libvirt can be switched off together with novaCompute only: ${builtIn} has nova-compute use the libvirt that it deploys; set novaCompute to false, or ansiblePlaybook`,
          '.servicesOverride',
        ),
      ],
    },
  ),
  status: object('Observed state of OpenStackDataPlane.', {
    ...common,
    phase,
    found,
    deployedNodes: int('Hosts that the last run of the playbook has configured without a failure.', {
      minimum: 0,
      maximum: 250,
    }),
    totalNodes: int('Hosts of the spec.', { minimum: 0, maximum: 250 }),
  }),
  columns: [
    {
      name: 'Deployed',
      type: 'integer',
      jsonPath: '.status.deployedNodes',
      description: 'Hosts that were configured without a failure',
    },
    { name: 'Total', type: 'integer', jsonPath: '.status.totalNodes', description: 'Hosts of the spec' },
  ],
});

export type OpenStackDataPlane = ObjectOf<typeof OpenStackDataPlane>;
export type OpenStackDataPlaneSpec = SpecOf<typeof OpenStackDataPlane>;
export type OpenStackDataPlaneStatus = StatusOf<typeof OpenStackDataPlane>;
export type DataPlaneNode = Infer<typeof nodes>[number];
