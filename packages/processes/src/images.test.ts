import { describe, expect, it } from 'vitest';
import { openstackImages } from './images.ts';
import { imageName } from './recipe.ts';

describe('openstackImages', () => {
  it.each([
    ['quay.io/openstack.kolla/keystone:2025.1-debian-bookworm', 'keystone'],
    ['localhost:5000/mirror/mariadb-server', 'mariadb-server'],
    ['memcached@sha256:0123', 'memcached'],
    ['registry/x/nova-api:1@sha256:0123', 'nova-api'],
  ])('knows %s by its name', (reference, name) => expect(imageName(reference)).toBe(name));

  it('finds exactly one image for every name, and none for a stranger', () => {
    const images = openstackImages();
    const matching = (reference: string) => images.filter((image) => image.matches(reference));
    expect(matching('quay.io/openstack.kolla/keystone:2025.1')).toHaveLength(1);
    expect(matching('docker.io/library/keystone-extra:1')).toHaveLength(0);
  });

  it.each([
    ['rabbitmq', ['rabbitmq-server', '/usr/lib/rabbitmq/bin/rabbitmq-server', 'rabbitmq-diagnostics', 'curl']],
    ['openvswitch-vswitchd', ['ovs-vswitchd', 'ovs-vsctl', 'ovs-appctl']],
    ['ovn-nb-db-server', ['/usr/share/ovn/scripts/ovn-ctl', 'ovn-nbctl']],
    ['ovn-controller', ['ovn-controller', 'ovs-vsctl', 'ovn-appctl']],
    ['nova-libvirt', ['libvirtd', 'virtlogd', 'virsh']],
    ['glance-api', ['glance-api', 'glance-manage']],
    ['placement-api', ['placement-manage', 'uwsgi']],
    ['neutron-server', ['neutron-db-manage', 'neutron-rpc-server', 'neutron-ovn-maintenance-worker', 'uwsgi']],
    ['neutron-metadata-agent', ['neutron-ovn-metadata-agent']],
    ['nova-api', ['uwsgi', 'nova-manage']],
    ['nova-conductor', ['nova-conductor', 'nova-manage', '/var/lib/kolla/venv/bin/nova-conductor']],
    ['nova-compute', ['nova-compute', 'ssh', 'scp']],
    ['nova-ssh', ['/usr/sbin/sshd']],
  ])('has the programs of %s', (name, programs) => {
    const [image] = openstackImages().filter((candidate) =>
      candidate.matches(`quay.io/openstack.kolla/${name}:2025.1`),
    );
    expect(Object.keys(image?.programs ?? {})).toEqual(expect.arrayContaining(programs));
  });

  it('gives programs where Kolla has them', () => {
    const [mariadb] = openstackImages().filter((image) => image.matches('mariadb-server'));
    expect(Object.keys(mariadb?.programs ?? {})).toEqual(
      expect.arrayContaining(['mariadbd', '/usr/sbin/mariadbd', 'sh', '/bin/sh']),
    );
    expect(mariadb?.programs['/usr/bin/mariadbd']).toBeUndefined();
    expect(mariadb?.user).toBe(42_434);
  });
});
