/** Manifests of a small web application: what most tests work on. */
export const web = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, labels: { app: web } }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      containers:
        - name: app
          image: example.com/app:1
          command: [serve, '8080']
          ports: [{ name: http, containerPort: 8080 }]
---
apiVersion: v1
kind: Service
metadata: { name: web }
spec: { selector: { app: web }, ports: [{ port: 80, targetPort: http }] }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: settings }
data: { color: blue, size: big }
`;
