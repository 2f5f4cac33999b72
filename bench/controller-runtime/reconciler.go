package main

import (
	"context"
	"crypto/rand"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// Reconciler makes of a Website what bench/small-operator/operator.ts makes of it.
type Reconciler struct {
	client.Client
}

func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).
		For(&Website{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&corev1.ConfigMap{}).
		Owns(&corev1.Secret{}).
		Owns(&corev1.Service{}).
		Owns(&appsv1.Deployment{}).
		Complete(r)
}

func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	site := &Website{}
	if err := r.Get(ctx, request.NamespacedName, site); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	named := metav1.ObjectMeta{Namespace: site.Namespace, Name: site.Name}
	labels := map[string]string{"app.kubernetes.io/name": "website", "app.kubernetes.io/instance": site.Name}

	configMap := &corev1.ConfigMap{ObjectMeta: named}
	if err := r.ensure(ctx, site, configMap, func() {
		configMap.Labels = labels
		configMap.Data = map[string]string{"TEXT": site.Spec.Text}
	}); err != nil {
		return ctrl.Result{}, err
	}

	secret := &corev1.Secret{ObjectMeta: named}
	if err := r.ensure(ctx, site, secret, func() {
		secret.Labels = labels
		if secret.Data == nil {
			secret.Data = map[string][]byte{"TOKEN": []byte(rand.Text())}
		}
	}); err != nil {
		return ctrl.Result{}, err
	}

	service := &corev1.Service{ObjectMeta: named}
	if err := r.ensure(ctx, site, service, func() {
		service.Labels = labels
		service.Spec.Selector = labels
		service.Spec.Ports = []corev1.ServicePort{
			{Name: "http", Port: 80, TargetPort: intstr.FromString("http"), Protocol: corev1.ProtocolTCP},
		}
	}); err != nil {
		return ctrl.Result{}, err
	}

	deployment := &appsv1.Deployment{ObjectMeta: named}
	if err := r.ensure(ctx, site, deployment, func() { mutateDeployment(deployment, site, labels) }); err != nil {
		return ctrl.Result{}, err
	}

	return ctrl.Result{}, r.report(ctx, site, deployment)
}

func (r *Reconciler) ensure(ctx context.Context, site *Website, object client.Object, mutate func()) error {
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, object, func() error {
		mutate()
		return controllerutil.SetControllerReference(site, object, r.Scheme())
	})
	return err
}

// mutateDeployment sets what it has an opinion on and leaves the server's defaults alone: whoever replaces the whole
// template finds a difference in every pass.
func mutateDeployment(deployment *appsv1.Deployment, site *Website, labels map[string]string) {
	deployment.Labels = labels
	spec := &deployment.Spec
	spec.Replicas = &site.Spec.Replicas
	if spec.Selector == nil {
		spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	}
	spec.Template.Labels = labels
	if len(spec.Template.Spec.Containers) != 1 {
		spec.Template.Spec.Containers = make([]corev1.Container, 1)
	}
	container := &spec.Template.Spec.Containers[0]
	container.Name = "web"
	container.Image = site.Spec.Image
	container.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}}
	reference := corev1.LocalObjectReference{Name: site.Name}
	container.EnvFrom = []corev1.EnvFromSource{
		{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: reference}},
		{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: reference}},
	}
}

func (r *Reconciler) report(ctx context.Context, site *Website, deployment *appsv1.Deployment) error {
	before := site.Status.DeepCopy()
	condition := metav1.Condition{
		Type:               "Ready",
		Status:             metav1.ConditionFalse,
		ObservedGeneration: site.Generation,
		Reason:             "DeploymentNotAvailable",
		Message:            "waiting for Deployment " + deployment.Name,
	}
	seen := deployment.Generation != 0 && deployment.Status.ObservedGeneration == deployment.Generation
	if seen && deployment.Status.AvailableReplicas >= site.Spec.Replicas {
		condition.Status = metav1.ConditionTrue
		condition.Reason = "Available"
		condition.Message = "all replicas are available"
	}
	meta.SetStatusCondition(&site.Status.Conditions, condition)
	site.Status.ObservedGeneration = site.Generation
	if equality.Semantic.DeepEqual(before, &site.Status) {
		return nil
	}
	return r.Status().Update(ctx, site)
}
