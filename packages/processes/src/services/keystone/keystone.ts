import { model } from '../../model/model.ts';
import { startTimes } from '../../start-times.ts';
import { serveIdentity } from './keystone-api.ts';
import { keystoneManage, keystoneStatus } from './keystone-manage.ts';

/** Keystone 27: talks to the database on the first request. */
export const keystone = model({
  project: 'keystone',
  images: { keystone: {} },
  programs: { 'keystone-manage': keystoneManage, 'keystone-status': keystoneStatus },
  applications: { 'keystone.wsgi.api:application': { takes: startTimes.keystoneApi, serves: serveIdentity } },
});
