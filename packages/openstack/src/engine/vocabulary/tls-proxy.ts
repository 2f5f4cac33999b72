import { certificateFiles, whenRenewed } from './certificate.ts';
import type { Sidecar } from './component.ts';

/** The name of the container that serves TLS for a server beside it that does not itself. */
const tlsProxy = 'tls-proxy';

const path = `/etc/openstack/${tlsProxy}.cfg`;

/** Answered by HAProxy itself. */
const healthPath = `/${tlsProxy}`;

/**
 * HAProxy beside a server of HTTP: it listens with TLS, and passes requests on within the pod. Every line was run with
 * 2.6.12 and 3.0.11.
 * @param name of its port, among the component's
 * @param port where it listens
 * @param server the port without TLS
 */
export function proxyWithTls(name: string, port: number, server: number): Sidecar {
  return {
    name: tlsProxy,
    image: 'haproxy',
    runs: {
      script: `# HAProxy reads its certificate when it starts, and when its master is told to. That ends when it has no child left,
# so the loop is not to be one: its parent ends at once.
last=$(cat ${certificateFiles.certificate})
(${whenRenewed('kill -USR2 $$')} &)
exec haproxy -W -f ${path}
`,
      files: { [path]: configuration(port, server) },
      signals: 'USR1',
    },
    ports: [name],
    health: { get: healthPath, port: name, scheme: 'HTTPS' },
    resources: { cpu: '10m', memory: '64Mi' },
  };
}

/**
 * Its time limits are there for connections that nothing comes through any more: whoever uploads an image, or has objects
 * copied, waits for as long as the server takes. A connection ends with its request, so that none is used when the proxy
 * or the server ends. A process whose certificate was replaced goes on until its requests have ended. Headers may be as long
 * as servers take them (eventlet: 64 KiB), and as many as an object of Swift has (90 of its own). Buffers of all connections fit its memory.
 */
const configuration = (port: number, server: number): string => `global
  log stdout format raw daemon
  maxconn 400
  nbthread 2
  hard-stop-after 24h
  tune.bufsize 65536
  tune.http.maxhdr 256
  ssl-load-extra-del-ext
  ssl-default-bind-options ssl-min-ver TLSv1.2
defaults
  mode http
  log global
  option httplog
  option dontlog-normal
  option dontlognull
  option httpclose
  option idle-close-on-response
  option forwardfor if-none
  timeout connect 5s
  timeout http-request 30s
  timeout client 1h
  timeout server 1h
frontend tls
  bind *:${port} ssl crt ${certificateFiles.certificate} alpn http/1.1
  monitor-uri ${healthPath}
  http-request set-header X-Forwarded-Proto https unless { req.hdr(X-Forwarded-Proto) -m found }
  default_backend api
backend api
  server api 127.0.0.1:${server}
`;
