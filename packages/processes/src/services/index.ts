import type { Modelled } from '../model/model.ts';
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
import { masakari, masakariMonitors } from './masakari/masakari.ts';
import { mistral } from './mistral/mistral.ts';
import { neutron } from './neutron/neutron.ts';
import { nova } from './nova/nova.ts';
import { octavia } from './octavia/octavia.ts';
import { placement } from './placement.ts';
import { skyline } from './skyline/skyline.ts';
import { swift } from './swift/swift.ts';
import { tacker } from './tacker/tacker.ts';
import { trove } from './trove/trove.ts';
import { venus } from './venus/venus.ts';
import { vitrage } from './vitrage/vitrage.ts';
import { watcher } from './watcher/watcher.ts';
import { zaqar } from './zaqar/zaqar.ts';
import { zun } from './zun/zun.ts';

/** The services of OpenStack that are modelled. */
export const services: readonly Modelled[] = [
  keystone,
  glance,
  placement,
  neutron,
  nova,
  cinder,
  barbican,
  swift,
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
  aodh,
  cyborg,
  zaqar,
  masakari,
  masakariMonitors,
  ironic,
  gnocchi,
  ceilometer,
  cloudkitty,
  vitrage,
  adjutant,
  freezer,
  tacker,
  zun,
  venus,
];
