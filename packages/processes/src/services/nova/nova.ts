import { sshClients } from '../../infrastructure/ssh.ts';
import { sshd } from '../../infrastructure/sshd.ts';
import { withShell } from '../../kolla-users.ts';
import { model } from '../../model/model.ts';
import { broker } from '../../model/wsgi.ts';
import { startTimes } from '../../start-times.ts';
import { serveCompute } from './nova-api.ts';
import { novaCompute } from './nova-compute.ts';
import { novaManage } from './nova-manage.ts';
import { serveMetadata } from './nova-metadata.ts';
import { novaConductor, novaNovncproxy, novaScheduler } from './nova-servers.ts';
import { novaStatus } from './nova-status.ts';

// Ready after about 8 s: each API writes itself down in its database before it answers; the paste file comes last.
const api = { files: ['api-paste.ini', 'nova.conf'], takes: startTimes.novaApi.imports, connects: [broker] };

/** Nova 31. */
export const nova = model({
  project: 'nova',
  images: {
    'nova-api': { root: true },
    'nova-conductor': {},
    'nova-scheduler': {},
    'nova-compute': { system: { '/usr/bin': sshClients } },
    'nova-ssh': { root: true, files: { '/etc/passwd': withShell('nova') }, system: { '/usr/sbin': { sshd } } },
    'nova-novncproxy': {
      files: { '/usr/share/novnc/vnc_lite.html': '<!DOCTYPE html>\n<title>noVNC</title>\n' },
    },
  },
  files: {
    '/etc/nova/api-paste.ini':
      '[composite:metadata]\nuse = egg:Paste#urlmap\n\n[composite:osapi_compute]\nuse = call:nova.api.openstack.urlmap:urlmap_factory\n',
    '/etc/nova/rootwrap.conf': '[DEFAULT]\nfilters_path=/etc/nova/rootwrap.d\n',
  },
  programs: {
    'nova-manage': novaManage,
    'nova-status': novaStatus,
    'nova-conductor': novaConductor,
    'nova-scheduler': novaScheduler,
    'nova-compute': novaCompute,
    'nova-novncproxy': novaNovncproxy,
  },
  applications: {
    'nova.wsgi.osapi_compute:application': { ...api, serves: serveCompute },
    'nova.wsgi.metadata:application': { ...api, serves: serveMetadata },
  },
});
