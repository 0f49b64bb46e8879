package table

import (
	"reflect"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func addOthers(add func(reflect.Type, printer)) {
	add(of(func(l *coordinationv1.Lease, m metav1.Object) []any {
		return []any{l.Name, deref(l.Spec.HolderIdentity, ""), age(m)}
	}, "Name", "Holder", "Age"))
	add(of(func(i *networkingv1.Ingress, m metav1.Object) []any {
		var hosts, addresses []string
		for _, rule := range i.Spec.Rules {
			if rule.Host != "" {
				hosts = append(hosts, rule.Host)
			}
		}
		for _, a := range i.Status.LoadBalancer.Ingress {
			addresses = append(addresses, a.IP+a.Hostname)
		}
		ports, shown := "80", "*"
		if len(i.Spec.TLS) > 0 {
			ports = "80, 443"
		}
		if len(hosts) > 0 {
			shown = strings.Join(hosts, ",")
		}
		return []any{i.Name, deref(i.Spec.IngressClassName, "<none>"), shown, strings.Join(addresses, ","), ports, age(m)}
	}, "Name", "Class", "Hosts", "Address", "Ports", "Age"))
	add(of(func(n *networkingv1.NetworkPolicy, m metav1.Object) []any {
		return []any{n.Name, metav1.FormatLabelSelector(&n.Spec.PodSelector), age(m)}
	}, "Name", "Pod-Selector", "Age"))
	add(of(func(b *rbacv1.RoleBinding, m metav1.Object) []any {
		return []any{b.Name, b.RoleRef.Kind + "/" + b.RoleRef.Name, age(m)}
	}, "Name", "Role", "Age"))
	add(of(func(b *rbacv1.ClusterRoleBinding, m metav1.Object) []any {
		return []any{b.Name, b.RoleRef.Kind + "/" + b.RoleRef.Name, age(m)}
	}, "Name", "Role", "Age"))
	add(of(func(s *storagev1.StorageClass, m metav1.Object) []any {
		name := s.Name
		if s.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" {
			name += " (default)"
		}
		return []any{
			name, s.Provisioner, string(deref(s.ReclaimPolicy, "Delete")), string(deref(s.VolumeBindingMode, "<unset>")),
			deref(s.AllowVolumeExpansion, false), age(m),
		}
	}, "Name", "Provisioner", "ReclaimPolicy", "VolumeBindingMode", "AllowVolumeExpansion", "Age"))
}
