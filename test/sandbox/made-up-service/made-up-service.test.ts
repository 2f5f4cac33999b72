import { expect, test } from 'vitest';
import { outcomeOf } from './outcome.ts';

test('a service that is one folder and a line in the list of services comes up as a child, and goes when it is disabled', async () => {
  const outcome = await outcomeOf('run.ts');
  const { controlPlane, echo, spec, service, policy, catalogue, containers, files } = outcome as Record<
    string,
    Record<string, unknown>
  >;
  expect(controlPlane).toMatchObject({ EchoReady: 'True', Ready: 'True' });
  expect(echo).toMatchObject({ DatabaseReady: 'True', MigrationReady: 'True', EndpointReady: 'True', Ready: 'True' });
  expect(spec).toMatchObject({
    databaseRef: { name: 'my-cloud-mariadb' },
    cacheRef: { name: 'my-cloud-memcached' },
    keystoneRef: { name: 'my-cloud-keystone' },
    publicHostname: 'echo.openstack.local',
  });
  expect(catalogue).toEqual(
    expect.arrayContaining([
      ['echo', 'echo'],
      ['echov1', 'echo-v1'],
    ]),
  );
  expect(containers).toEqual([
    ['api', ['api']],
    ['dns', ['dns']],
  ]);
  const ports = [
    { name: 'api', protocol: 'TCP' },
    { name: 'dns', port: 8953, protocol: 'UDP' },
  ];
  expect(service).toMatchObject({ ports });
  expect(policy).toMatchObject({ ingress: [{ ports: [{ protocol: 'TCP' }, { port: 8953, protocol: 'UDP' }] }] });
  const file = Buffer.from(String(files?.['placement.conf']), 'base64').toString();
  expect(file).toMatch(/^\[backend:one\]\npassword = [A-Za-z0-9]{32}$/m);
});
