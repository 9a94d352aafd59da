"""How much buffer does a link need?"""
