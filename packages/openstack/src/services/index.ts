import { dataplane } from '../dataplane/dataplane.ts';
import { linked } from '../engine/vocabulary/linked.ts';
import type { Service } from '../engine/vocabulary/service.ts';
import { ceph } from '../infrastructure/ceph/ceph.ts';
import { mariadb } from '../infrastructure/mariadb/mariadb.ts';
import { memcached } from '../infrastructure/memcached/memcached.ts';
import { ovn } from '../infrastructure/ovn/ovn.ts';
import { rabbitmq } from '../infrastructure/rabbitmq/rabbitmq.ts';
import { adjutant } from './adjutant/adjutant.ts';
import { aodh } from './aodh/aodh.ts';
import { barbican } from './barbican/barbican.ts';
import { blazar } from './blazar/blazar.ts';
import { ceilometer } from './ceilometer/ceilometer.ts';
import { cinder } from './cinder/cinder.ts';
import { cloudkitty } from './cloudkitty/cloudkitty.ts';
import { cyborg } from './cyborg/cyborg.ts';
import { designate } from './designate/designate.ts';
import { freezer } from './freezer/freezer.ts';
import { glance } from './glance/glance.ts';
import { gnocchi } from './gnocchi/gnocchi.ts';
import { heat } from './heat/heat.ts';
import { horizon } from './horizon/horizon.ts';
import { ironic } from './ironic/ironic.ts';
import { keystone } from './keystone/keystone.ts';
import { magnum } from './magnum/magnum.ts';
import { manila } from './manila/manila.ts';
import { masakari } from './masakari/masakari.ts';
import { mistral } from './mistral/mistral.ts';
import { neutron } from './neutron/neutron.ts';
import { nova } from './nova/nova.ts';
import { octavia } from './octavia/octavia.ts';
import { placement } from './placement/placement.ts';
import { skyline } from './skyline/skyline.ts';
import { storlets } from './storlets/storlets.ts';
import { swift } from './swift/swift.ts';
import { tacker } from './tacker/tacker.ts';
import { trove } from './trove/trove.ts';
import { venus } from './venus/venus.ts';
import { vitrage } from './vitrage/vitrage.ts';
import { watcher } from './watcher/watcher.ts';
import { zaqar } from './zaqar/zaqar.ts';
import { zun } from './zun/zun.ts';

/** Every service that this version can deploy, in the order in which the children of a control plane come up. */
export const definitions = [
  mariadb,
  rabbitmq,
  memcached,
  ovn,
  ceph,
  keystone,
  glance,
  placement,
  neutron,
  nova,
  cinder,
  swift,
  barbican,
  manila,
  heat,
  watcher,
  blazar,
  horizon,
  skyline,
  mistral,
  magnum,
  trove,
  designate,
  octavia,
  gnocchi,
  ceilometer,
  aodh,
  cyborg,
  zaqar,
  masakari,
  cloudkitty,
  vitrage,
  ironic,
  adjutant,
  freezer,
  tacker,
  zun,
  venus,
  storlets,
  dataplane,
] as unknown as readonly Service[];

/** The same, with what follows from all of them. */
export const services = linked(definitions);
